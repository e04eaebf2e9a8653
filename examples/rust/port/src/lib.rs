//! A port of Assayer's training step to Rust, without crates.
//!
//! `ops` has the operations on slices, `exports` hands them out by the names of `assayer.h`, `model` makes a training
//! step and decoding of them, and the program `port` runs all that on golden files.

#[macro_use]
mod simd;
mod exports;
mod parallel;
mod product;

pub mod answers;
pub mod model;
pub mod ops;
pub mod random;
pub mod safetensors;
