//! Functions compiled once for each instruction set; the widest that the machine has is called.

/// Wraps plain functions so that the compiler makes vectors of their loops, whatever the machine it compiles for.
macro_rules! vectorised {
    ($($(#[$meta:meta])* pub fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => { $(
        $(#[$meta])*
        pub fn $name($($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn plain($($arg: $type),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn avx512($($arg: $type),*) $(-> $result)? {
                    plain($($arg),*)
                }
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $type),*) $(-> $result)? {
                    plain($($arg),*)
                }
                // SAFETY: each is called where the machine has what it was compiled for.
                if is_x86_feature_detected!("avx512f") {
                    return unsafe { avx512($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    return unsafe { avx2($($arg),*) };
                }
            }
            plain($($arg),*)
        }
    )* };
}

const LANES: usize = 16;

/// exp(x) within two units in the last place: 0 where the result is subnormal, infinity above 88.72, NaN for NaN.
///
/// x = n ln 2 + r with |r| <= ln(2) / 2, and exp(r) by its Taylor polynomial of degree 7, whose remainder is below 2^-27.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    const ROUNDER: f32 = 12_582_912.0; // 1.5 * 2^23: what is added to it is rounded to a whole number
    const LOWEST: f32 = -87.336_54; // ln(2^-126)
    let clamped = x.clamp(LOWEST, 89.0); // a NaN stays
    let shifted = clamped * std::f32::consts::LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = (clamped - n * (355.0 / 512.0)) + n * 2.121_944_4e-4; // ln 2 in two parts, the first of few digits
    let mut sum = 1.0 / 5040.0;
    for factor in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * r + factor;
    }
    // 2^n in two factors, as 2^128 is no f32.
    let power = shifted.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(254);
    let half = power >> 1;
    let result = sum * f32::from_bits(half << 23) * f32::from_bits((power - half) << 23);
    if x < LOWEST {
        0.0
    } else {
        result
    }
}

#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

vectorised! {
    /// The sum of x * y, in f64: a square of f32 may pass the largest f32.
    pub fn dot(x: &[f32], y: &[f32]) -> f64 {
        let mut sums = [0.0f64; LANES];
        let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
        let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        for (x, y) in xs.zip(ys) {
            for i in 0..LANES {
                sums[i] += f64::from(x[i]) * f64::from(y[i]);
            }
        }
        sums.iter().sum::<f64>() + rest
    }

    /// The largest; a NaN is passed over.
    pub fn maximum(x: &[f32]) -> f32 {
        let mut best = [f32::NEG_INFINITY; LANES];
        let chunks = x.chunks_exact(LANES);
        let rest = chunks.remainder();
        for x in chunks {
            for i in 0..LANES {
                best[i] = if x[i] > best[i] { x[i] } else { best[i] };
            }
        }
        best.iter().chain(rest).fold(f32::NEG_INFINITY, |a, b| if *b > a { *b } else { a })
    }

    /// x = exp(x - shift); returns the sum.
    pub fn exp_shifted(x: &mut [f32], shift: f32) -> f64 {
        for x in x.iter_mut() {
            *x = exp(*x - shift);
        }
        let mut sums = [0.0f64; LANES];
        let chunks = x.chunks_exact(LANES);
        let rest: f64 = chunks.remainder().iter().map(|x| f64::from(*x)).sum();
        for x in chunks {
            for i in 0..LANES {
                sums[i] += f64::from(x[i]);
            }
        }
        sums.iter().sum::<f64>() + rest
    }

    /// The sum of exp(x - shift).
    pub fn exp_sum(x: &[f32], shift: f32) -> f64 {
        let mut total = 0.0;
        let mut block = [0.0f32; 256];
        for x in x.chunks(block.len()) {
            let mut sums = [0.0f64; LANES];
            for (y, x) in block.iter_mut().zip(x) {
                *y = exp(*x - shift);
            }
            for (i, y) in block[..x.len()].iter().enumerate() {
                sums[i % LANES] += f64::from(*y);
            }
            total += sums.iter().sum::<f64>();
        }
        total
    }

    /// y = factor * x.
    pub fn scale(x: &[f32], factor: f32, y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = x * factor;
        }
    }

    /// y += factor * x.
    pub fn axpy(x: &[f32], factor: f32, y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += x * factor;
        }
    }
}
