//! Bytes as hexadecimal digits: keys, tokens, seeds and states, in files and on command lines.

/// Two digits for each byte.
pub fn encode(bytes: &[u8]) -> String {
    ::hex::encode(bytes)
}

/// The bytes of such digits, small or large. `None` if anything else is among them, or half a byte.
pub fn decode(digits: &str) -> Option<Vec<u8>> {
    ::hex::decode(digits).ok()
}

/// The same of exactly so many bytes.
pub fn decode_array<const N: usize>(digits: &str) -> Option<[u8; N]> {
    decode(digits)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_whole_or_not_at_all() {
        assert_eq!(decode(&encode(&[0, 15, 255])), Some(vec![0, 15, 255]));
        assert_eq!((decode("00Ff"), decode("")), (Some(vec![0, 255]), Some(vec![])));
        for wrong in ["0", "0g", "+f", "é", "0f 0f", "0f\n", "0x0f"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
        assert_eq!(decode_array(&"0f".repeat(32)), Some([15; 32]));
        for count in [0, 31, 33] {
            assert_eq!(decode_array::<32>(&"0f".repeat(count)), None, "{count}");
        }
    }
}
