//! Which place of one build's source is which of another's: a line that was added moves all
//! that come after it.
//!
//! It is learnt from rows of notes that begin alike. A place that never does so has moved as far as
//! the nearest before it in its file.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::note::{Note, Site};

/// For each place there, the one here.
pub(super) struct Sites(BTreeMap<Site, Site>);

impl Sites {
    /// From rows of notes, here and there, and all notes there.
    pub fn learnt<'n>(rows: impl Iterator<Item = [Vec<&'n Note>; 2]>, there: &[Note]) -> Sites {
        let mut pairs: BTreeMap<(&Site, &Site), usize> = BTreeMap::new();
        for [here, there] in rows {
            let alike = here.into_iter().zip(there).take_while(|(a, b)| a.event == b.event);
            for (a, b) in alike {
                if let (Some(a), Some(b)) = (&a.site, &b.site) {
                    *pairs.entry((b, a)).or_default() += 1;
                }
            }
        }
        let mut most: BTreeMap<&Site, (usize, &Site)> = BTreeMap::new();
        for ((there, here), count) in pairs {
            let known = most.entry(there).or_insert((count, here));
            if count > known.0 {
                *known = (count, here);
            }
        }
        let learnt: BTreeMap<&Site, &Site> = most.into_iter().map(|(there, (_, here))| (there, here)).collect();
        let all: BTreeSet<&Site> = there.iter().filter_map(|note| note.site.as_ref()).collect();
        Sites(all.into_iter().map(|site| (site.clone(), correspond(&learnt, site))).collect())
    }

    /// The place here that one there corresponds to.
    pub fn here<'s>(&'s self, there: &'s Site) -> &'s Site {
        self.0.get(there).unwrap_or(there)
    }
}

fn correspond(learnt: &BTreeMap<&Site, &Site>, site: &Site) -> Site {
    match learnt.range::<Site, _>(..=site).next_back() {
        Some((&known, &here)) if known == site => here.clone(),
        Some((known, here)) if known.file == site.file => {
            let line = here.line.wrapping_add(site.line.wrapping_sub(known.line));
            Site { file: here.file.clone(), line, column: site.column }
        }
        _ => site.clone(),
    }
}
