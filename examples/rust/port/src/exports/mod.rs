//! The header's functions. Each looks at its arguments first: what breaks the declaration is refused, nothing written.
//!
//! # Safety
//! Pointers that are not null have as many elements as the header says, and no array that is written overlaps another.
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments, non_snake_case)]

mod attention;
mod decode;
mod dense;
mod experts;
mod products;
mod training;

const OK: i32 = 0;
const INVALID: i32 = -2;

/// An argument breaks the declaration.
struct Refused;

type Checked<T> = Result<T, Refused>;

/// Runs one call and returns its code.
fn code(call: impl FnOnce() -> Checked<()>) -> i32 {
    call().map_or(INVALID, |()| OK)
}

fn require(condition: bool) -> Checked<()> {
    condition.then_some(()).ok_or(Refused)
}

/// How many elements; refused where a size is below 1 or the bytes do not fit in 63 bits.
fn elements<T>(sizes: &[i64]) -> Checked<usize> {
    let mut room = i64::MAX / size_of::<T>() as i64;
    for size in sizes {
        require(*size >= 1)?;
        room /= size;
    }
    require(room >= 1)?;
    Ok(sizes.iter().product::<i64>() as usize)
}

unsafe fn read<'a, T>(array: *const T, sizes: &[i64]) -> Checked<&'a [T]> {
    let length = elements::<T>(sizes)?;
    require(!array.is_null())?;
    Ok(std::slice::from_raw_parts(array, length))
}

unsafe fn write<'a, T>(array: *mut T, sizes: &[i64]) -> Checked<&'a mut [T]> {
    let length = elements::<T>(sizes)?;
    require(!array.is_null())?;
    Ok(std::slice::from_raw_parts_mut(array, length))
}

/// Every value is at least `low` and below `high`.
fn within(values: &[i32], low: i32, high: i64) -> Checked<()> {
    require(values.iter().all(|value| *value >= low && i64::from(*value) < high))
}

/// `sizes!(a, b)`: arguments of any whole type as sizes.
macro_rules! sizes {
    ($($size:expr),*) => { &[$(i64::from($size)),*] };
}
use sizes;

#[no_mangle]
pub unsafe extern "C" fn assayer_version(version: *mut i32) -> i32 {
    code(|| {
        write(version, &[1])?[0] = 1;
        Ok(())
    })
}
