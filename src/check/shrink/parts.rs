//! Leaves out as much of a list as can be left out, in chunks that become smaller: Zeller and
//! Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002), by complements alone.

/// The items without which `still` is no longer true, as far as chunks tell. `still` was true of
/// all of them. It is not asked about all, nor twice about the same. It may return more than once
/// in vain; when it has had enough it returns false for everything.
pub(super) fn needed<T: Clone>(items: Vec<T>, mut still: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut items = items;
    let mut chunk = items.len();
    while chunk > 0 && !items.is_empty() {
        let (mut at, before) = (0, items.len());
        while at < items.len() {
            let behind = (at + chunk).min(items.len());
            let fewer: Vec<T> = items[..at].iter().chain(&items[behind..]).cloned().collect();
            if still(&fewer) {
                items = fewer;
            } else {
                at = behind;
            }
        }
        // What came before may be left out now that what came after is gone.
        let again = chunk == 1 && items.len() < before;
        chunk = if again { 1 } else { chunk / 2 };
        chunk = chunk.min(items.len());
    }
    items
}

#[cfg(test)]
mod tests {
    use super::needed;

    #[test]
    fn what_is_needed_together_is_found() {
        let (mut asked, all) = (0, (0..3_412).collect::<Vec<u32>>());
        let left = needed(all, |items| {
            asked += 1;
            [17, 1_800, 1_801, 3_411].iter().all(|item| items.contains(item))
        });
        assert_eq!(left, [17, 1_800, 1_801, 3_411]);
        assert!(asked < 200, "{asked}");
    }

    #[test]
    fn what_only_counts_is_found() {
        assert_eq!(needed((0..100).collect::<Vec<u32>>(), |items| items.len() >= 3).len(), 3);
        assert_eq!(needed(vec![1, 2, 3], |_| true), Vec::<u32>::new());
        assert_eq!(needed(vec![1, 2, 3], |_| false), [1, 2, 3]);
    }
}
