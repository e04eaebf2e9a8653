package assayer

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func on[T Number](t *testing.T, values ...T) *Device[T] {
	t.Helper()
	d, err := ToDevice(values)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Free() })
	return d
}

func right(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func holds[T Number](t *testing.T, d *Device[T], expected ...T) {
	t.Helper()
	got, err := d.ToHost()
	right(t, err)
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("expected %v, got %v", expected, got)
	}
}

// near allows a few roundings of float32: exact values follow from the formulas.
func near(t *testing.T, d *Device[float32], expected ...float64) {
	t.Helper()
	got, err := d.ToHost()
	right(t, err)
	for i, value := range expected {
		if len(got) != len(expected) || !(math.Abs(float64(got[i])-value) <= 0x1p-20*math.Abs(value)) {
			t.Fatalf("expected %v, got %v", expected, got)
		}
	}
}

func refused(t *testing.T, err error, operation string) {
	t.Helper()
	var failed *CallError
	if !errors.As(err, &failed) || *failed != (CallError{operation, Invalid}) {
		t.Errorf("%s: expected a refusal, got %v", operation, err)
	}
}

func says(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || err.Error() != words {
		t.Errorf("expected %q, got %v", words, err)
	}
}

func TestArraysComeBackAsTheyWent(t *testing.T) {
	if version, err := Version(); err != nil || version != 1 {
		t.Errorf("expected version 1, got %d, %v", version, err)
	}
	holds(t, on[uint64](t, 3, math.MaxUint64), 3, math.MaxUint64)
	zeros, err := Zeros[int32](3)
	right(t, err)
	holds(t, zeros, 0, 0, 0)
	right(t, zeros.Free())
	right(t, zeros.Free())
}

func TestForwardOperations(t *testing.T) {
	input, weight, output := on[float32](t, 3, 4, 6, 8), on[float32](t, 1, 2), on[float32](t, 0, 0, 0, 0)
	right(t, RMSNorm(input, weight, 0, output))
	root := math.Sqrt(12.5)
	near(t, output, 3/root, 8/root, 3/root, 8/root)
	right(t, Silu(input, output))
	near(t, output, 3/(1+math.Exp(-3)), 4/(1+math.Exp(-4)), 6/(1+math.Exp(-6)), 8/(1+math.Exp(-8)))
	product := on[float32](t, 0, 0)
	right(t, Gemm(input, weight, 2, product))
	holds(t, product, 11, 22)
	chosen, places := on[float32](t, 0, 0), on[int32](t, 0, 0)
	right(t, SoftmaxTopK(input, 2, 1, chosen, places))
	holds(t, chosen, 1, 1)
	holds(t, places, 1, 1)
	right(t, Sample(input, 2, 0, on[uint64](t, 1<<53|1, 7), places))
	holds(t, places, 1, 1)
	picked := on(t, make([]float32, 6)...)
	right(t, Embedding(input, 2, on[int32](t, 1, 0, 1), picked))
	holds(t, picked, 6, 8, 3, 4, 6, 8)
}

func TestOperationsOfATrainingStep(t *testing.T) {
	loss, logProbs := on[float32](t, 0), on(t, make([]float32, 8)...)
	logits := on[float32](t, .5, .5, .5, .5, .5, .5, .5, .5)
	right(t, CrossEntropyForward(logits, 4, on[int32](t, 2, -1), loss, logProbs))
	near(t, loss, math.Log(4))
	param, grad, m, v := on[float32](t, 1, -2), on[float32](t, 4, -.5), on[float32](t, 0, 0), on[float32](t, 0, 0)
	right(t, AdamWStep(param, grad, m, v, AdamW{LR: .25, Beta1: .5, Beta2: .75, Step: 1}))
	near(t, param, .75, -1.75) // the first update is lr * sign(grad)
	near(t, v, 4, .0625)
	right(t, MultiScale([]*Device[float32]{m, v}, on[float32](t, 2)))
	near(t, m, 4, -.5)
	near(t, v, 8, .125)
	dInput, dWeight, one := on[float32](t, 0, 0), on[float32](t, 1, 1), on[float32](t, 1, 3)
	right(t, RMSNormBackward(on[float32](t, 1, 1), one, one, 0, 1, dInput, dWeight))
	near(t, dInput, -4, 4) // g = (1, 9): g - mean(g)
	near(t, dWeight, 2, 4)
}

func TestSlicesAreTakenWhereTheLibraryComputesOnTheHost(t *testing.T) {
	input, output := Host[float32]{-1, 0}, Host[float32]{7, 7}
	err := Silu(input, output)
	if ComputesOnDevice() {
		says(t, err, "silu: input: expected an array of the device, got one of the host")
		return
	}
	right(t, err)
	if expected := float32(-1 / (1 + math.E)); math.Abs(float64(output[0]-expected)) > 1e-6 || output[1] != 0 {
		t.Errorf("expected [%v 0], got %v", expected, output)
	}
	says(t, Silu(input, input), "silu: output: expected an array that does not overlap input, got one that does")
}

func TestLengthsThatDoNotFitNeverReachTheLibrary(t *testing.T) {
	three, two, output := on[float32](t, 1, 1, 1), on[float32](t, 1, 1), on[float32](t, 7, 7)
	says(t, Silu(three, output), "silu: output: expected 3 elements, got 2")
	says(t, Silu(nil, output), "silu: input: expected at least one element, got none")
	says(t, RMSNorm(three, two, 0, output), "rmsnorm: input: expected one or more rows of 2, at least 1, got 3 elements")
	says(t, SoftmaxTopK(two, 2, -1, output, on[int32](t, 0)), "softmax_topk: k: expected a size of 32 bits, got -1")
	holds(t, output, 7, 7)
	freed := on[float32](t, 1, 1)
	right(t, freed.Free())
	says(t, Silu(freed, output), "silu: input: expected at least one element, got none")
	if _, err := Zeros[float32](math.MaxInt64 / 2); err == nil {
		t.Error("expected an error, got an array of 2^63 bytes")
	}
}

func TestWhatTheHeaderDoesNotAllowIsRefused(t *testing.T) {
	input, weight, output := on[float32](t, 1, 1, 1, 1), on[float32](t, 1, 1), on[float32](t, 7, 7, 7, 7)
	refused(t, RMSNorm(input, weight, -1, output), "rmsnorm")
	refused(t, SoftmaxTopK(input, 2, 3, on(t, make([]float32, 6)...), on(t, make([]int32, 6)...)), "softmax_topk")
	err := Embedding(input, 2, on[int32](t, 0, 2), output)
	if ComputesOnDevice() { // it cannot look before it returns
		right(t, err)
		values, err := output.ToHost()
		right(t, err)
		if values[2] == values[2] || values[3] == values[3] {
			t.Errorf("expected NaN for an index outside, got %v", values)
		}
		return
	}
	refused(t, err, "embedding")
	holds(t, output, 7, 7, 7, 7)
	if !strings.HasPrefix(err.Error(), "embedding: refused") {
		t.Error(err)
	}
}
