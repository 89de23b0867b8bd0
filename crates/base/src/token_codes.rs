//! Limits the codes of a passage's tokens by merging those that are nearest to each other. Pure.
//!
//! A code is the signs of the numbers of a vector, lowest bit first; see `embed/token_codes.rs`.

/// Most codes of a passage. With 384 signs each, four passages share a page of the database.
pub const MAX_CODES: usize = 20;

/// Items that are compared with each other at a time, so that the time grows with their number only.
pub const MAX_COMPARED: usize = 256;

/// Merges codes of `code_len` bytes until there are at most [`MAX_CODES`]. A merged code has the signs of most
/// members. Fewer codes are left unchanged, so packing again has no effect.
pub fn pack(mut codes: Vec<u8>, code_len: usize) -> Vec<u8> {
    if code_len == 0 {
        return codes;
    }
    while codes.len() > MAX_COMPARED * code_len {
        codes =
            codes.chunks(MAX_COMPARED * code_len).flat_map(|part| merged(part, code_len)).collect();
    }
    if codes.len() <= MAX_CODES * code_len { codes } else { merged(&codes, code_len) }
}

fn merged(codes: &[u8], code_len: usize) -> Vec<u8> {
    let codes: Vec<&[u8]> = codes.chunks_exact(code_len).collect();
    let distances = (0..codes.len())
        .map(|later| codes[..later].iter().map(|code| distance(code, codes[later])).collect())
        .collect();
    let signs = groups(distances).into_iter().flat_map(|group| {
        let members: Vec<&[u8]> = group.into_iter().map(|at| codes[at]).collect();
        signs_of_most(&members, code_len)
    });
    signs.collect()
}

/// Merges items until there are at most [`MAX_CODES`] groups: each time the two groups whose members are least
/// farther from their mean afterwards (Ward, 1963). Takes the squared distances of each item to those
/// before it, at most [`MAX_COMPARED`] items; returns the items of each group.
pub fn groups(mut losses: Vec<Vec<f64>>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = (0..losses.len()).map(|at| vec![at]).collect();
    while groups.len() > MAX_CODES {
        let pairs = (1..groups.len()).flat_map(|later| (0..later).map(move |first| (later, first)));
        let least = pairs.min_by(|a, b| losses[a.0][a.1].total_cmp(&losses[b.0][b.1]));
        let Some((later, first)) = least else { break };
        let loss = losses[later][first];
        let (one, two) = (groups[first].len() as f64, groups[later].len() as f64);
        for other in (0..groups.len()).filter(|other| *other != first && *other != later) {
            let to_one = (first.max(other), first.min(other));
            let to_two = (later.max(other), later.min(other));
            let others = groups[other].len() as f64;
            // The loss of a merged group follows from those of its parts (Lance and Williams, 1967).
            losses[to_one.0][to_one.1] = ((one + others) * losses[to_one.0][to_one.1]
                + (two + others) * losses[to_two.0][to_two.1]
                - others * loss)
                / (one + two + others);
        }
        let members = groups.remove(later);
        groups[first].extend(members);
        losses.remove(later);
        losses.iter_mut().skip(later).for_each(|losses| {
            losses.remove(later);
        });
    }
    groups
}

/// Returns the number of different signs.
fn distance(one: &[u8], other: &[u8]) -> f64 {
    f64::from(one.iter().zip(other).map(|(one, other)| (one ^ other).count_ones()).sum::<u32>())
}

fn signs_of_most(codes: &[&[u8]], code_len: usize) -> Vec<u8> {
    let mut signs = vec![0; code_len];
    for (place, byte) in signs.iter_mut().enumerate() {
        for bit in 0..8 {
            let count = codes.iter().filter(|code| code[place] >> bit & 1 == 1).count();
            *byte |= u8::from(count * 2 > codes.len()) << bit;
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of two bytes without any pattern.
    fn codes(count: u32) -> Vec<u8> {
        let bytes = |number: u32| (number.wrapping_mul(2_654_435_761) >> 8).to_le_bytes();
        (1..=count).flat_map(|number| [bytes(number)[0], bytes(number)[1]]).collect()
    }

    #[test]
    fn few_codes_stay_as_they_are() {
        for count in [0, 1, 20] {
            assert_eq!(pack(codes(count), 2), codes(count));
        }
        assert_eq!(pack(vec![7; 30], 0), [7; 30]);
    }

    #[test]
    fn packing_again_changes_nothing() {
        for count in [21, 22, 64, 257, 5000] {
            let packed = pack(codes(count), 2);
            assert_eq!(packed.len(), MAX_CODES * 2, "{count}");
            assert_eq!(pack(packed.clone(), 2), packed);
        }
    }

    #[test]
    fn codes_that_say_the_same_become_one_wherever_they_are() {
        let different: Vec<u8> = (1..20).flat_map(|number| [number, 1 << (number % 8)]).collect();
        let mut codes = [0xf0, 0xff].to_vec();
        codes.extend(different.chunks(2).flat_map(|code| [code[0], code[1], 0xf0, 0xff]));
        assert_eq!(pack(codes, 2), [&[0xf0, 0xff], &different[..]].concat());
    }

    #[test]
    fn a_merged_code_has_the_signs_of_most() {
        let far: Vec<u8> = (0..19_u32).flat_map(|bit| (0xff_u32 << bit).to_le_bytes()).collect();
        let near = [0x5000_0000_u32, 0x7000_0000, 0x1000_0000].map(u32::to_le_bytes).concat();
        let packed = pack([&near[..], &far].concat(), 4);
        assert_eq!(packed, [&near[..4], &far].concat());
    }
}
