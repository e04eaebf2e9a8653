//! Choosing the next token.

use super::*;
use crate::ops::decode::{self, Walk};
use std::ffi::c_void;

#[no_mangle]
pub unsafe extern "C" fn cuda_argmax(
    logits: *const f32,
    output: *mut i32,
    batch: i32,
    vocab_size: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (logits, output) = (read(logits, sizes!(batch, vocab_size))?, write(output, sizes!(batch))?);
        decode::argmax(logits, vocab_size as usize, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_sample(
    logits: *const f32,
    output: *mut i32,
    seeds: *const u64,
    batch: i32,
    vocab_size: i32,
    temperature: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (logits, seeds) = (read(logits, sizes!(batch, vocab_size))?, read(seeds, sizes!(batch))?);
        let output = write(output, sizes!(batch))?;
        require(temperature >= 0.0)?;
        decode::sample(logits, seeds, vocab_size as usize, Walk::All, temperature, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_topk_sample(
    logits: *const f32,
    output: *mut i32,
    seeds: *const u64,
    batch: i32,
    vocab_size: i32,
    k: i32,
    temperature: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (logits, seeds) = (read(logits, sizes!(batch, vocab_size))?, read(seeds, sizes!(batch))?);
        let output = write(output, sizes!(batch))?;
        require(k >= 1 && temperature >= 0.0)?;
        decode::sample(logits, seeds, vocab_size as usize, Walk::TopK(k as usize), temperature, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_topp_sample(
    logits: *const f32,
    output: *mut i32,
    seeds: *const u64,
    batch: i32,
    vocab_size: i32,
    top_p: f32,
    temperature: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (logits, seeds) = (read(logits, sizes!(batch, vocab_size))?, read(seeds, sizes!(batch))?);
        let output = write(output, sizes!(batch))?;
        require(!top_p.is_nan() && temperature >= 0.0)?;
        decode::sample(logits, seeds, vocab_size as usize, Walk::TopP(top_p), temperature, output);
        Ok(())
    })
}
