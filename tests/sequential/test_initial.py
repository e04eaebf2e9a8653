"""First values of parameters: Keras' rules."""

from __future__ import annotations

import numpy as np
import pytest

from sequential import GRU, LSTM, Conv2D, Dense, Embedding, Sequential, SimpleRNN
from sequential.initial import fans, glorot_uniform, initial, orthogonal


def test_fans_are_of_the_whole_kernel() -> None:
    assert fans((8, 3)) == (3, 8)
    assert fans((16, 4, 3, 5)) == (4 * 15, 16 * 15)
    with pytest.raises(ValueError, match="two axes or more"):
        fans((3,))


def test_glorot_fills_its_range_evenly() -> None:
    """The largest of n even numbers from -l to l misses l by 2 l / (n + 1) on average, 20 times that once in e^20."""
    shape, limit = (64, 32), np.sqrt(6 / 96)
    drawn = glorot_uniform(3, shape)
    slack = 20 * 2 * limit / (drawn.size + 1)
    assert limit - slack < drawn.max() < limit
    assert -limit <= drawn.min() < -limit + slack
    # The mean of n such numbers deviates by l / sqrt(3 n).
    assert abs(drawn.mean()) < 5 * limit / np.sqrt(3 * drawn.size)


def orthogonality(rows: int, columns: int) -> float:
    """How far Householder's Q may be from one: Higham 2002, Accuracy and Stability of Numerical Algorithms, (19.13)."""
    rows, columns = max(rows, columns), min(rows, columns)
    return float(rows * columns**1.5 * np.finfo(float).eps)


@pytest.mark.parametrize("shape", [(6, 6), (24, 6), (4, 9)])
def test_orthogonal_rows_or_columns_are_orthonormal(shape: tuple[int, int]) -> None:
    drawn = orthogonal(1, shape)
    product = drawn @ drawn.T if shape[0] < shape[1] else drawn.T @ drawn
    assert np.abs(product - np.eye(min(shape))).max() < orthogonality(*shape)


def test_layers_begin_as_in_keras() -> None:
    layers = [Embedding(9, 4), LSTM(5, return_sequences=True), GRU(3, return_sequences=True), SimpleRNN(3), Dense(2)]
    state = Sequential(layers, input_shape=(6,), dtype="float64").state_dict()
    assert state["lstm.bias"].tolist() == [0] * 5 + [1] * 5 + [0] * 10
    assert np.abs(state["embedding.weight"]).max() <= 0.05
    assert not any(state[name].any() for name in ("gru.b_x", "gru.b_h", "simple_rnn.bias", "dense.bias"))
    recurrent = state["lstm.w_h"]
    assert np.abs(recurrent.T @ recurrent - np.eye(5)).max() < orthogonality(20, 5)
    plain = Sequential([LSTM(5, unit_forget_bias=False)], input_shape=(6, 2)).state_dict()
    assert not plain["lstm.bias"].any()


def test_a_parameter_s_values_depend_on_seed_and_name_alone() -> None:
    first = Sequential([Dense(4), Dense(4)], input_shape=(4,)).state_dict()
    assert not np.array_equal(first["dense.weight"], first["dense_1.weight"])
    wider = Sequential([Dense(4), Conv2D(1, 1)][:1], input_shape=(4,)).state_dict()
    assert np.array_equal(first["dense.weight"], wider["dense.weight"])
    with pytest.raises(ValueError, match=r"initializer: expected one of .*, got 'he'"):
        initial("he", 0, (2, 2))
