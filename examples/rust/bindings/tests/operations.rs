//! Operations on the library that ASSAYER_LIBRARY names: right where they are right, refused where they are to be.

use assayer::*;

fn refused(operation: &'static str) -> Result<()> {
    Err(Error::Call { operation, status: Status::Invalid })
}

fn near(got: &[f32], expected: &[f32]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        // A few roundings of float32: exact values follow from the formulas.
        assert!((got - expected).abs() <= 8.0 * f32::EPSILON * expected.abs(), "expected {expected}, got {got}");
    }
}

#[test]
fn arrays_come_back_as_they_went() -> Result<()> {
    assert_eq!(version()?, 1);
    assert_eq!(DeviceArray::from_host(&[3u64, u64::MAX])?.to_host()?, [3, u64::MAX]);
    assert_eq!(DeviceArray::<i32>::zeros(3)?.to_host()?, [0; 3]);
    Ok(())
}

#[test]
fn forward_operations() -> Result<()> {
    let input = DeviceArray::from_host(&[3.0f32, 4.0, 6.0, 8.0])?;
    let weight = DeviceArray::from_host(&[1.0f32, 2.0])?;
    let mut output = DeviceArray::zeros(4)?;
    rmsnorm(&input, &weight, 0.0, &mut output)?;
    let root = 12.5f32.sqrt();
    near(&output.to_host()?, &[3.0 / root, 8.0 / root, 3.0 / root, 8.0 / root]);
    silu(&input, &mut output)?;
    let silus = [3.0f32, 4.0, 6.0, 8.0].map(|x| x / (1.0 + (-x).exp()));
    near(&output.to_host()?, &silus);
    let mut product = DeviceArray::zeros(2)?;
    gemm(&input, &weight, 2, &mut product)?;
    assert_eq!(product.to_host()?, [11.0, 22.0]);
    let (mut chosen, mut places) = (DeviceArray::zeros(2)?, DeviceArray::zeros(2)?);
    softmax_topk(&input, 2, 1, &mut chosen, &mut places)?;
    assert_eq!((chosen.to_host()?, places.to_host()?), (vec![1.0, 1.0], vec![1, 1]));
    let mut drawn = DeviceArray::zeros(2)?;
    sample(&input, 2, 0.0, &DeviceArray::from_host(&[1u64 << 53 | 1, 7])?, &mut drawn)?;
    assert_eq!(drawn.to_host()?, [1, 1]);
    let indices = DeviceArray::from_host(&[1, 0, 1])?;
    let mut rows = DeviceArray::zeros(6)?;
    embedding(&input, 2, &indices, &mut rows)?;
    assert_eq!(rows.to_host()?, [6.0, 8.0, 3.0, 4.0, 6.0, 8.0]);
    Ok(())
}

#[test]
fn operations_of_a_training_step() -> Result<()> {
    let logits = DeviceArray::from_host(&[0.5f32; 8])?;
    let (mut loss, mut log_probs) = (DeviceArray::zeros(1)?, DeviceArray::zeros(8)?);
    cross_entropy_forward(&logits, 4, &DeviceArray::from_host(&[2, -1])?, &mut loss, &mut log_probs)?;
    near(&loss.to_host()?, &[4.0f32.ln()]);
    let [mut param, mut m, mut v] =
        [DeviceArray::from_host(&[1.0f32, -2.0])?, DeviceArray::zeros(2)?, DeviceArray::zeros(2)?];
    let grad = DeviceArray::from_host(&[4.0f32, -0.5])?;
    let adam = AdamW { lr: 0.25, beta1: 0.5, beta2: 0.75, eps: 0.0, weight_decay: 0.0, step: 1 };
    adamw_step(&mut param, &grad, &mut m, &mut v, adam)?;
    near(&param.to_host()?, &[0.75, -1.75]); // the first update is lr * sign(grad)
    near(&v.to_host()?, &[4.0, 0.0625]);
    multi_scale(&mut [&mut m, &mut v], &DeviceArray::from_host(&[2.0f32])?)?;
    near(&m.to_host()?, &[4.0, -0.5]);
    near(&v.to_host()?, &[8.0, 0.125]);
    let (mut d_input, mut d_weight) = (DeviceArray::zeros(2)?, DeviceArray::from_host(&[1.0f32, 1.0])?);
    let (x, one) = (DeviceArray::from_host(&[1.0f32, 1.0])?, DeviceArray::from_host(&[1.0f32, 3.0])?);
    rmsnorm_backward(&x, &one, &one, 0.0, 1.0, &mut d_input, &mut d_weight)?;
    near(&d_input.to_host()?, &[-4.0, 4.0]); // g = (1, 9): g - mean(g)
    near(&d_weight.to_host()?, &[2.0, 4.0]);
    Ok(())
}

#[test]
fn arrays_of_the_host_are_taken_where_the_library_computes_there() {
    let (input, mut output) = (vec![-1.0f32, 0.0], [7.0f32; 2]);
    let done = silu(&input, &mut output);
    if computes_on_device() {
        assert_eq!(done, Err(Error::OnHost { argument: "input" }));
        assert_eq!(output, [7.0; 2]);
    } else {
        assert_eq!(done, Ok(()));
        near(&output, &[-1.0 / (1.0 + 1.0f32.exp()), 0.0]);
    }
}

#[test]
fn lengths_that_do_not_fit_never_reach_the_library() -> Result<()> {
    let (three, two, none) =
        (DeviceArray::from_host(&[1.0f32; 3])?, DeviceArray::from_host(&[1.0f32; 2])?, [0.0f32; 0]);
    let mut output = DeviceArray::from_host(&[7.0f32; 2])?;
    let short = Error::Length { argument: "output", expected: 3, got: 2 };
    assert_eq!(silu(&three, &mut output), Err(short));
    assert_eq!(short.to_string(), "output: expected 3 elements, got 2");
    let uneven = Err(Error::Rows { argument: "input", width: 2, got: 3 });
    assert_eq!(rmsnorm(&three, &two, 0.0, &mut output), uneven);
    let nothing = Err(Error::Rows { argument: "input", width: 0, got: 3 });
    assert_eq!(rmsnorm(&three, &none, 0.0, &mut output), nothing);
    assert_eq!(output.to_host()?, [7.0; 2]);
    let huge = DeviceArray::<f32>::zeros(usize::MAX / 4);
    assert!(matches!(huge, Err(Error::TooLarge { argument: "length", .. })));
    Ok(())
}

#[test]
fn what_the_header_does_not_allow_is_refused() -> Result<()> {
    let (input, weight) = (DeviceArray::from_host(&[1.0f32; 4])?, DeviceArray::from_host(&[1.0f32; 2])?);
    let mut output = DeviceArray::from_host(&[7.0f32; 4])?;
    assert_eq!(rmsnorm(&input, &weight, -1.0, &mut output), refused("rmsnorm"));
    let (mut chosen, mut places) = (DeviceArray::zeros(6)?, DeviceArray::zeros(6)?);
    assert_eq!(softmax_topk(&input, 2, 3, &mut chosen, &mut places), refused("softmax_topk"));
    let done = embedding(&input, 2, &DeviceArray::from_host(&[0, 2])?, &mut output);
    if computes_on_device() {
        assert_eq!(done, Ok(())); // it cannot look before it returns
        assert!(output.to_host()?[2..].iter().all(|x| x.is_nan()));
    } else {
        assert_eq!(done, refused("embedding"));
        assert_eq!(output.to_host()?, [7.0; 4]);
        assert!(done.unwrap_err().to_string().starts_with("embedding: refused"));
    }
    Ok(())
}
