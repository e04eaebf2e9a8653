//! The reference's random numbers: the same bits in every language.

/// A seed of 64 bits that belongs to these names, from the SHA-256 of their type, length and text.
pub fn stream(names: &[Name]) -> u64 {
    let mut text = Vec::new();
    for name in names {
        let (kind, name) = match name {
            Name::Text(name) => ("str", (*name).to_string()),
            Name::Number(number) => ("int", number.to_string()),
        };
        text.extend(format!("{kind}:{}:{name}", name.len()).bytes());
    }
    let digest = sha256(&text);
    u64::from_le_bytes(digest[..8].try_into().expect("8 bytes"))
}

/// Part of a stream's name.
#[derive(Clone, Copy)]
pub enum Name<'a> {
    Text(&'a str),
    Number(u64),
}

/// Word i of a seed: splitmix64 (Steele, Lea and Flood 2014).
fn word(seed: u64, i: u64) -> u64 {
    let z = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(seed);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Number i of a seed, nearly normal: the sum of the twelve 16-bit lanes of three words (Irwin-Hall).
pub fn normal(seed: u64, i: u64) -> f64 {
    let lanes = (3 * i..3 * i + 3).flat_map(|at| word(seed, at).to_le_bytes());
    let sum: u64 = lanes.enumerate().map(|(place, byte)| u64::from(byte) << (8 * (place % 2))).sum();
    (sum as f64 - 12.0 * 32767.5) / 65536.0
}

/// FIPS 180-4. Its constants are the first 32 bits of the fractions of cube and square roots of primes.
fn sha256(text: &[u8]) -> [u8; 32] {
    let primes: Vec<u64> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    let fraction = |root: f64| (root.fract() * 4_294_967_296.0) as u32;
    let k: Vec<u32> = primes.iter().map(|p| fraction((*p as f64).cbrt())).collect();
    let mut h: Vec<u32> = primes[..8].iter().map(|p| fraction((*p as f64).sqrt())).collect();
    let mut padded = text.to_vec();
    padded.push(0x80);
    padded.resize((text.len() + 9).next_multiple_of(64) - 8, 0);
    padded.extend((text.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut w: Vec<u32> =
            block.chunks(4).map(|word| u32::from_be_bytes(word.try_into().expect("4 bytes"))).collect();
        for i in 16..64 {
            let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v = h.clone();
        for i in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = [s1, choice, k[i], w[i]].iter().fold(v[7], |sum, x| sum.wrapping_add(*x));
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        h.iter_mut().zip(v).for_each(|(h, v)| *h = h.wrapping_add(v));
    }
    let mut digest = [0; 32];
    digest.chunks_mut(4).zip(h).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_of_abc_is_that_of_the_standard() {
        let digest: String = sha256(b"abc").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
