//! Goldens of single operations, answered: for each file with a call's arguments, a file with its results.

use crate::ops::decode::{sample, Walk};
use crate::ops::{elementwise, gemm, loss, norm, rows, softmax};
use crate::product::View;
use crate::safetensors::{Error, File, Tensor};
use std::fs;
use std::path::{Path, PathBuf};

type Answer = fn(&File, &mut File) -> Result<(), Error>;

pub const OPERATIONS: [(&str, Answer); 13] = [
    ("add", |call, out| {
        let [n] = shape(call, "a")?;
        let (a, b, mut y) = (floats(call, "a", &[n])?, floats(call, "b", &[n])?, vec![0.0; n]);
        elementwise::add(&a, &b, &mut y);
        put(out, "output", &[n], &y)
    }),
    ("scale", |call, out| {
        let [n] = shape(call, "input")?;
        let (x, mut y) = (floats(call, "input", &[n])?, vec![0.0; n]);
        elementwise::scale(&x, call.number("argument.scale")?, &mut y);
        put(out, "output", &[n], &y)
    }),
    ("swiglu", |call, out| {
        let [n] = shape(call, "gate")?;
        let (gate, up, mut y) = (floats(call, "gate", &[n])?, floats(call, "up", &[n])?, vec![0.0; n]);
        elementwise::swiglu(&gate, &up, &mut y);
        put(out, "output", &[n], &y)
    }),
    ("swiglu_backward", |call, out| {
        let [n] = shape(call, "gate")?;
        let (gate, up, dy) = (floats(call, "gate", &[n])?, floats(call, "up", &[n])?, floats(call, "d_output", &[n])?);
        let (mut d_gate, mut d_up) = (vec![0.0; n], vec![0.0; n]);
        elementwise::swiglu_backward(&gate, &up, &dy, &mut d_gate, &mut d_up);
        put(out, "d_gate", &[n], &d_gate)?;
        put(out, "d_up", &[n], &d_up)
    }),
    ("softmax", |call, out| {
        let [count, cols] = shape(call, "input")?;
        let (x, mut y) = (floats(call, "input", &[count, cols])?, vec![0.0; count * cols]);
        softmax::softmax(&x, cols, &mut y);
        put(out, "output", &[count, cols], &y)
    }),
    ("softmax_backward", |call, out| {
        let all @ [_, cols] = shape(call, "output")?;
        let (y, dy) = (floats(call, "output", &all)?, floats(call, "d_output", &all)?);
        let mut dx = vec![0.0; y.len()];
        softmax::softmax_backward(&y, &dy, cols, &mut dx);
        put(out, "d_input", &all, &dx)
    }),
    ("rmsnorm", |call, out| {
        let all @ [_, width] = shape(call, "input")?;
        let (x, weight) = (floats(call, "input", &all)?, floats(call, "weight", &[width])?);
        let mut y = vec![0.0; x.len()];
        norm::rmsnorm(&x, &weight, call.number("argument.eps")?, &mut y);
        put(out, "output", &all, &y)
    }),
    ("rmsnorm_backward", |call, out| {
        let all @ [_, width] = shape(call, "input")?;
        let (x, dy) = (floats(call, "input", &all)?, floats(call, "d_output", &all)?);
        let (weight, mut d_weight) = (floats(call, "weight", &[width])?, floats(call, "d_weight", &[width])?);
        let (eps, beta) = (call.number("argument.eps")?, call.number("argument.beta")?);
        let mut dx = vec![0.0; x.len()];
        norm::rmsnorm_backward(&x, &weight, &dy, None, eps, beta, &mut dx, &mut d_weight);
        put(out, "d_input", &all, &dx)?;
        put(out, "d_weight", &[width], &d_weight)
    }),
    ("gemm", |call, out| {
        let ([m, k], [n, _]) = (shape(call, "A")?, shape(call, "B")?);
        let (a, b, mut c) = (floats(call, "A", &[m, k])?, floats(call, "B", &[n, k])?, vec![0.0; m * n]);
        gemm::gemm(View::plain(&a, k), View::transposed(&b, k), (m, n, k), 1.0, 0.0, &mut c);
        put(out, "C", &[m, n], &c)
    }),
    ("embedding", |call, out| {
        let ([vocab, width], [count]) = (shape(call, "weight")?, shape(call, "indices")?);
        let (weight, indices) = (floats(call, "weight", &[vocab, width])?, call.i32s("input.indices")?);
        let known = |index: &i32| usize::try_from(*index).is_ok_and(|index| index < vocab);
        require(indices.iter().all(known), "input.indices below vocab_size")?;
        let mut y = vec![0.0; count * width];
        rows::embedding(&weight, &indices, width, &mut y);
        put(out, "output", &[count, width], &y)
    }),
    ("cross_entropy_forward", |call, out| {
        let all @ [count, vocab] = shape(call, "logits")?;
        let (x, targets) = (floats(call, "logits", &all)?, targets(call, count, vocab)?);
        let mut log_probs = vec![0.0; x.len()];
        let mean = loss::cross_entropy_forward(&x, &targets, vocab, &mut log_probs);
        put(out, "loss", &[1], &[mean])?;
        put(out, "log_probs", &all, &log_probs)
    }),
    ("cross_entropy_backward", |call, out| {
        let all @ [count, vocab] = shape(call, "log_probs")?;
        let (y, targets) = (floats(call, "log_probs", &all)?, targets(call, count, vocab)?);
        let mut dx = vec![0.0; y.len()];
        loss::cross_entropy_backward(&y, &targets, vocab, call.number("argument.scale")?, &mut dx);
        put(out, "d_logits", &all, &dx)
    }),
    ("sample", |call, out| {
        let all @ [batch, vocab] = shape(call, "logits")?;
        let (x, seeds) = (floats(call, "logits", &all)?, call.get("input.seeds")?.u64s().unwrap_or_default());
        require(seeds.len() == batch, "input.seeds of type U64, one for each row")?;
        let mut drawn = vec![0; batch];
        sample(&x, &seeds, vocab, Walk::All, call.number("argument.temperature")?, &mut drawn);
        out.0.insert("output.output".to_string(), Tensor::of_i32s(&[batch], &drawn));
        Ok(())
    }),
];

/// The shape of an array of N axes, none of them 0 long.
fn shape<const N: usize>(call: &File, name: &str) -> Result<[usize; N], Error> {
    let found = <[usize; N]>::try_from(call.get(&format!("input.{name}"))?.shape.as_slice()).ok();
    found.filter(|axes| !axes.contains(&0)).ok_or_else(|| Error::Lacks(format!("input.{name} of {N} axes")))
}

fn floats(call: &File, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
    let name = format!("input.{name}");
    require(call.get(&name)?.shape == shape, &format!("{name} of shape {shape:?}"))?;
    call.f32s(&name)
}

fn targets(call: &File, count: usize, vocab: usize) -> Result<Vec<i32>, Error> {
    let found = call.i32s("input.targets")?;
    let known = found.iter().all(|target| i64::from(*target) < vocab as i64);
    require(known && found.len() == count, "input.targets below vocab_size, one for each row")?;
    Ok(found)
}

fn require(holds: bool, what: &str) -> Result<(), Error> {
    holds.then_some(()).ok_or_else(|| Error::Lacks(what.to_string()))
}

fn put(out: &mut File, name: &str, shape: &[usize], values: &[f32]) -> Result<(), Error> {
    out.0.insert(format!("output.{name}"), Tensor::of_f32s(shape, values));
    Ok(())
}

/// Answers all that can be answered, and returns how many were, and what is wrong with each of the others.
pub fn answers(goldens: &Path, results: &Path) -> (usize, Vec<String>) {
    let (mut done, mut wrong) = (0, Vec::new());
    for (name, answer) in OPERATIONS {
        for from in files(&goldens.join(name)) {
            let to = results.join(from.strip_prefix(goldens).expect("a file below the folder"));
            match answered(answer, &from, &to) {
                Ok(()) => done += 1,
                Err(error) => wrong.push(format!("{}: {error}", from.display())),
            }
        }
    }
    (done, wrong)
}

fn answered(answer: Answer, from: &Path, to: &Path) -> Result<(), Error> {
    let mut out = File::default();
    answer(&File::read(from)?, &mut out)?;
    let folder = to.parent().expect("a file in a folder");
    fs::create_dir_all(folder).map_err(|error| Error::Io(folder.to_owned(), error))?;
    out.write(to)
}

/// The files of tensors below a folder; none where there is no folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let found = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    found.filter(|path| path.extension().is_some_and(|suffix| suffix == "safetensors")).collect()
}
