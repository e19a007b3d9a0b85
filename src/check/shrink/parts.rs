//! Leaves out as much of a list as can be left out, in chunks that become smaller: Zeller and
//! Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002), by complements alone.

/// What `made` made of the items that are needed, as far as chunks tell: it makes nothing where
/// one is missing. `None` if that is all of them. It is not asked about all, nor twice about the
/// same. It may make something more than once in vain; when it has had enough it makes nothing.
pub(crate) fn needed<T: Clone, M>(mut items: Vec<T>, mut made: impl FnMut(&[T]) -> Option<M>) -> Option<M> {
    let (mut least, mut chunk) = (None, items.len());
    while chunk > 0 && !items.is_empty() {
        let (mut at, before) = (0, items.len());
        while at < items.len() {
            let behind = (at + chunk).min(items.len());
            let fewer: Vec<T> = items[..at].iter().chain(&items[behind..]).cloned().collect();
            match made(&fewer) {
                Some(made) => (least, items) = (Some(made), fewer),
                None => at = behind,
            }
        }
        // What came before may be left out now that what came after is gone.
        let again = chunk == 1 && items.len() < before;
        chunk = if again { 1 } else { chunk / 2 };
        chunk = chunk.min(items.len());
    }
    least
}

#[cfg(test)]
mod tests {
    use super::needed;

    #[test]
    fn what_is_needed_together_is_found() {
        let (mut asked, all) = (0, (0..3_412).collect::<Vec<u32>>());
        let left = needed(all, |items| {
            asked += 1;
            [17, 1_800, 1_801, 3_411].iter().all(|item| items.contains(item)).then(|| items.to_vec())
        });
        assert_eq!(left, Some(vec![17, 1_800, 1_801, 3_411]));
        assert!(asked < 200, "{asked}");
    }

    #[test]
    fn what_only_counts_is_found() {
        let counted = |items: &[u32]| (items.len() >= 3).then_some(items.len());
        assert_eq!(needed((0..100).collect(), counted), Some(3));
        assert_eq!(needed(vec![1, 2, 3], |items| Some(items.len())), Some(0));
        assert_eq!(needed(vec![1, 2, 3], |_| None::<()>), None);
    }
}
