//! The port as a program on files: a training step, a start, decoding. What a language without a C ABI would do.

use port::answers::answers;
use port::model::{generate, training_step, Arrays, Config, State, Strategy, Training, TINY};
use port::ops::decode::Walk;
use port::safetensors::{Error, File, Tensor};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
port answers IN OUT    the goldens of single operations: a folder to read, one to write
port golden IN OUT     the golden training step: its losses, its gradients at the places that the golden names
port step IN OUT       one update: of parameters, m, v, tokens, targets and settings by their names
port start OUT         the parameters of the tiny model as it starts, by seed 0
port generate IN OUT   a prompt continued";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["golden", from, to] => on_file(from, to, golden),
        ["step", from, to] => on_file(from, to, step),
        ["generate", from, to] => on_file(from, to, continued),
        ["answers", goldens, results] => return all_answers(Path::new(goldens), Path::new(results)),
        ["start", to] => start().write(Path::new(to)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn all_answers(goldens: &Path, results: &Path) -> ExitCode {
    let (done, wrong) = answers(goldens, results);
    wrong.iter().for_each(|sentence| eprintln!("{sentence}"));
    if done + wrong.len() == 0 {
        eprintln!("{}: expected a folder of goldens, got none of these operations", goldens.display());
    }
    if done > 0 && wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn on_file(from: &str, to: &str, run: fn(&File) -> Result<File, Error>) -> Result<(), Error> {
    run(&File::read(Path::new(from))?)?.write(Path::new(to))
}

/// The arrays that stand below `prefix`, each as long as the model says.
fn arrays(file: &File, config: &Config, prefix: &str) -> Result<Arrays, Error> {
    let array = |(name, shape): (String, Vec<usize>)| {
        let full = format!("{prefix}{name}");
        let values = file.f32s(&full)?;
        if file.get(&full)?.shape != shape {
            return Err(Error::Lacks(format!("{full} of shape {shape:?}")));
        }
        Ok((name, values))
    };
    config.shapes().into_iter().map(array).collect()
}

/// Tokens that the model has, and how many samples they are of.
fn tokens(file: &File, config: &Config, name: &str) -> Result<(Vec<i32>, usize), Error> {
    let values = file.i32s(name)?;
    let known = values.iter().all(|token| *token >= 0 && (*token as usize) < config.vocab);
    match file.get(name)?.shape[..] {
        [batch, seq] if known && batch > 0 && seq > 0 => Ok((values, batch)),
        _ => Err(Error::Lacks(format!("{name}, tokens below {} of shape [batch, seq]", config.vocab))),
    }
}

fn targets(file: &File, config: &Config, like: &[i32]) -> Result<Vec<i32>, Error> {
    let values = file.i32s("input.targets")?;
    let known = values.iter().all(|target| i64::from(*target) < config.vocab as i64);
    let fits = known && values.len() == like.len();
    fits.then_some(values).ok_or_else(|| Error::Lacks("input.targets below vocab, one for each token".to_string()))
}

fn one(value: f32) -> Tensor {
    Tensor::of_f32s(&[1], &[value])
}

fn put(file: &mut File, config: &Config, prefix: &str, arrays: &Arrays) {
    for (name, shape) in config.shapes() {
        file.0.insert(format!("{prefix}{name}"), Tensor::of_f32s(&shape, &arrays[&name]));
    }
}

fn zeros(like: &Arrays) -> Arrays {
    like.iter().map(|(name, array)| (name.clone(), vec![0.0; array.len()])).collect()
}

fn golden(file: &File) -> Result<File, Error> {
    let config = &TINY;
    let parameters = arrays(file, config, "input.parameters.")?;
    let (tokens, batch) = tokens(file, config, "input.tokens")?;
    let targets = targets(file, config, &tokens)?;
    let (m, v) = (zeros(&parameters), zeros(&parameters));
    let mut state = State { parameters, m, v };
    let training =
        Training { lr: 0.0, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0.0, clip_norm: 1.0, update: 1 };
    let (losses, gradients) = training_step(config, &training, &mut state, &tokens, &targets, batch);
    let mut out = File::default();
    put_losses(&mut out, losses.cross_entropy, losses.aux_loss, losses.norm);
    for (name, gradient) in &gradients {
        let places = file.i64s(&format!("input.places.{name}"))?;
        let at = places.iter().map(|place| gradient.get(usize::try_from(*place).ok()?).copied());
        let at: Option<Vec<f32>> = at.collect();
        let at = at.ok_or_else(|| Error::Lacks(format!("input.places.{name} within the gradient")))?;
        let squares: f64 = gradient.iter().map(|g| f64::from(*g) * f64::from(*g)).sum();
        out.0.insert(format!("output.gradient.{name}"), Tensor::of_f32s(&[at.len()], &at));
        out.0.insert(format!("output.gradient_norm.{name}"), one(squares.sqrt() as f32));
    }
    Ok(out)
}

fn put_losses(out: &mut File, cross_entropy: f32, aux_loss: f32, norm: f32) {
    let losses = [("loss", cross_entropy + aux_loss), ("cross_entropy", cross_entropy), ("aux_loss", aux_loss)];
    out.0.extend(losses.map(|(name, value)| (format!("output.{name}"), one(value))));
    out.0.insert("output.norm".to_string(), one(norm));
}

/// Refuses sizes that make no model.
fn expect_model(c: &Config) -> Result<(), Error> {
    let sizes = [c.hidden, c.layers, c.q_heads, c.kv_heads, c.head_dim, c.experts, c.top_k, c.ffn, c.vocab];
    let is_model = !sizes.contains(&0) && c.q_heads % c.kv_heads == 0 && c.head_dim % 2 == 0 && c.top_k <= c.experts;
    is_model.then_some(()).ok_or_else(|| {
        let whole = "sizes of at least 1, q_heads a multiple of kv_heads, head_dim even, top_k at most experts";
        Error::Lacks(format!("settings of a model: {whole}"))
    })
}

fn step(file: &File) -> Result<File, Error> {
    let size = |name: &str| file.whole(&format!("settings.{name}"));
    let number = |name: &str| file.number(&format!("settings.{name}"));
    let config = &Config {
        hidden: size("hidden")?,
        layers: size("layers")?,
        q_heads: size("q_heads")?,
        kv_heads: size("kv_heads")?,
        head_dim: size("head_dim")?,
        experts: size("experts")?,
        top_k: size("top_k")?,
        ffn: size("ffn")?,
        vocab: size("vocab")?,
        rope_base: number("rope_base")?,
        rope_alpha: number("rope_alpha")?,
        eps: number("eps")?,
        aux_alpha: number("aux_alpha")?,
    };
    expect_model(config)?;
    let update = i32::try_from(size("update")?).ok().filter(|update| *update > 0);
    let training = Training {
        lr: number("lr")?,
        beta1: number("beta1")?,
        beta2: number("beta2")?,
        eps: number("adam_eps")?,
        weight_decay: number("weight_decay")?,
        clip_norm: number("clip_norm")?,
        update: update.ok_or_else(|| Error::Lacks("settings.update from 1 to 2^31 - 1".to_string()))?,
    };
    let (tokens, batch) = tokens(file, config, "input.tokens")?;
    let targets = targets(file, config, &tokens)?;
    let [parameters, m, v] = ["parameters", "m", "v"].map(|kind| arrays(file, config, &format!("input.{kind}.")));
    let mut state = State { parameters: parameters?, m: m?, v: v? };
    let (losses, gradients) = training_step(config, &training, &mut state, &tokens, &targets, batch);
    let mut out = File::default();
    put_losses(&mut out, losses.cross_entropy, losses.aux_loss, losses.norm);
    let State { parameters, m, v } = &state;
    for (kind, arrays) in [("gradients", &gradients), ("parameters", parameters), ("m", m), ("v", v)] {
        put(&mut out, config, &format!("output.{kind}."), arrays);
    }
    Ok(out)
}

fn start() -> File {
    let mut out = File::default();
    put(&mut out, &TINY, "output.parameters.", &TINY.start(0, 0.125));
    out
}

fn continued(file: &File) -> Result<File, Error> {
    let parameters = arrays(file, &TINY, "input.parameters.")?;
    let (prompt, batch) = tokens(file, &TINY, "input.prompt")?;
    let has = |name: &str| file.0.contains_key(name);
    let walk = match (has("argument.k"), has("argument.top_p")) {
        (true, _) => Walk::TopK(file.whole("argument.k")?),
        (_, true) => Walk::TopP(file.number("argument.top_p")?),
        _ => Walk::All,
    };
    if let Walk::TopK(0) = walk {
        return Err(Error::Lacks("argument.k of at least 1".to_string()));
    }
    let strategy = if has("argument.seed") {
        let seed = file.whole("argument.seed")? as u64;
        Strategy::Drawn { walk, temperature: file.number("argument.temperature")?, seed }
    } else {
        Strategy::Greedy
    };
    let new = file.whole("argument.max_new")?;
    let tokens = generate(&TINY, &parameters, &prompt, batch, new, strategy);
    let mut out = File::default();
    out.0.insert("output.tokens".to_string(), Tensor::of_i32s(&[batch, tokens.len() / batch], &tokens));
    Ok(out)
}
