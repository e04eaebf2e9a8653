//! Attention and its cache.

use super::*;
use crate::ops::attention::{self, Given, Shape};
use std::ffi::c_void;

#[no_mangle]
pub unsafe extern "C" fn cuda_attention_forward(
    Q: *const f32,
    K: *const f32,
    V: *const f32,
    output: *mut f32,
    lse: *mut f32,
    batch: i32,
    n_q_heads: i32,
    n_kv_heads: i32,
    q_len: i32,
    kv_len: i32,
    kv_capacity: i32,
    head_dim: i32,
    scale: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let q_shape = sizes!(batch, q_len, n_q_heads, head_dim);
        let k_shape = sizes!(batch, kv_capacity, n_kv_heads, head_dim);
        let (Q, K, V) = (read(Q, q_shape)?, read(K, k_shape)?, read(V, k_shape)?);
        let (output, lse) = (write(output, q_shape)?, write(lse, sizes!(batch, n_q_heads, q_len))?);
        require(n_q_heads % n_kv_heads == 0 && kv_len >= q_len && kv_len <= kv_capacity)?;
        let [batch, q_heads, kv_heads] = [batch, n_q_heads, n_kv_heads].map(|size| size as usize);
        let [q_len, kv_len, kv_capacity, head_dim] = [q_len, kv_len, kv_capacity, head_dim].map(|size| size as usize);
        let shape = Shape { batch, q_heads, kv_heads, q_len, kv_len, kv_capacity, head_dim, scale };
        attention::attention_forward(&shape, Q, K, V, output, lse);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_attention_backward(
    Q: *const f32,
    K: *const f32,
    V: *const f32,
    output: *const f32,
    lse: *const f32,
    d_output: *const f32,
    d_Q: *mut f32,
    d_K: *mut f32,
    d_V: *mut f32,
    batch: i32,
    n_q_heads: i32,
    n_kv_heads: i32,
    seq_len: i32,
    head_dim: i32,
    scale: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let q_shape = sizes!(batch, seq_len, n_q_heads, head_dim);
        let k_shape = sizes!(batch, seq_len, n_kv_heads, head_dim);
        let (Q, K, V) = (read(Q, q_shape)?, read(K, k_shape)?, read(V, k_shape)?);
        let (output, d_output) = (read(output, q_shape)?, read(d_output, q_shape)?);
        let lse = read(lse, sizes!(batch, n_q_heads, seq_len))?;
        let (d_Q, d_K, d_V) = (write(d_Q, q_shape)?, write(d_K, k_shape)?, write(d_V, k_shape)?);
        require(n_q_heads % n_kv_heads == 0)?;
        let [batch, q_heads, kv_heads] = [batch, n_q_heads, n_kv_heads].map(|size| size as usize);
        let [n, head_dim] = [seq_len, head_dim].map(|size| size as usize);
        let shape = Shape { batch, q_heads, kv_heads, q_len: n, kv_len: n, kv_capacity: n, head_dim, scale };
        attention::attention_backward(&shape, [Q, K, V], &Given { output, lse, d_output }, [d_Q, d_K, d_V]);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_kv_cache_append(
    input: *const f32,
    cache: *mut f32,
    batch: i32,
    new_len: i32,
    n_kv_heads: i32,
    head_dim: i32,
    kv_capacity: i32,
    position: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let input = read(input, sizes!(batch, new_len, n_kv_heads, head_dim))?;
        let cache = write(cache, sizes!(batch, kv_capacity, n_kv_heads, head_dim))?;
        require(position >= 0 && i64::from(position) + i64::from(new_len) <= i64::from(kv_capacity))?;
        let width = n_kv_heads as usize * head_dim as usize;
        attention::kv_cache_append(input, (kv_capacity as usize, new_len as usize), width, position as usize, cache);
        Ok(())
    })
}
