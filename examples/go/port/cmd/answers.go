package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"port/ops"
	"port/safetensors"
	"port/vector"
)

// operations whose goldens are answered: each reads a call's arguments and puts its results.
var operations = map[string]func(*source, safetensors.File){
	"add": func(in *source, out safetensors.File) {
		n := in.shape("a", 1)
		y := make([]float32, n[0])
		ops.Add(in.floats("a", n...), in.floats("b", n...), y)
		safetensors.Put(out, "output.output", n, y)
	},
	"scale": func(in *source, out safetensors.File) {
		n := in.shape("input", 1)
		y := make([]float32, n[0])
		vector.Scale(in.floats("input", n...), in.number("argument.scale"), y)
		safetensors.Put(out, "output.output", n, y)
	},
	"swiglu": func(in *source, out safetensors.File) {
		n := in.shape("gate", 1)
		y := make([]float32, n[0])
		ops.SwiGLU(in.floats("gate", n...), in.floats("up", n...), y)
		safetensors.Put(out, "output.output", n, y)
	},
	"swiglu_backward": func(in *source, out safetensors.File) {
		n := in.shape("gate", 1)
		dGate, dUp := make([]float32, n[0]), make([]float32, n[0])
		ops.SwiGLUBackward(in.floats("gate", n...), in.floats("up", n...), in.floats("d_output", n...), dGate, dUp)
		safetensors.Put(out, "output.d_gate", n, dGate)
		safetensors.Put(out, "output.d_up", n, dUp)
	},
	"softmax": func(in *source, out safetensors.File) {
		n := in.shape("input", 2)
		y := make([]float32, n[0]*n[1])
		ops.Softmax(in.floats("input", n...), n[1], y)
		safetensors.Put(out, "output.output", n, y)
	},
	"softmax_backward": func(in *source, out safetensors.File) {
		n := in.shape("output", 2)
		dx := make([]float32, n[0]*n[1])
		ops.SoftmaxBackward(in.floats("output", n...), in.floats("d_output", n...), n[1], dx)
		safetensors.Put(out, "output.d_input", n, dx)
	},
	"rmsnorm": func(in *source, out safetensors.File) {
		n := in.shape("input", 2)
		y := make([]float32, n[0]*n[1])
		ops.RMSNorm(in.floats("input", n...), in.floats("weight", n[1]), in.number("argument.eps"), y)
		safetensors.Put(out, "output.output", n, y)
	},
	"rmsnorm_backward": func(in *source, out safetensors.File) {
		n := in.shape("input", 2)
		dx, dWeight := make([]float32, n[0]*n[1]), in.floats("d_weight", n[1])
		ops.RMSNormBackward(in.floats("input", n...), in.floats("weight", n[1]), in.floats("d_output", n...), nil,
			in.number("argument.eps"), in.number("argument.beta"), dx, dWeight)
		safetensors.Put(out, "output.d_input", n, dx)
		safetensors.Put(out, "output.d_weight", n[1:], dWeight)
	},
	"gemm": func(in *source, out safetensors.File) {
		a, b := in.shape("A", 2), in.shape("B", 2)
		m, n, k := a[0], b[0], a[1]
		c := make([]float32, m*n)
		x, y := vector.Plain(in.floats("A", m, k), k), vector.Turned(in.floats("B", n, k), k)
		ops.GEMM(x, y, m, n, k, 1, 0, c)
		safetensors.Put(out, "output.C", []int{m, n}, c)
	},
	"embedding": func(in *source, out safetensors.File) {
		n, count := in.shape("weight", 2), in.shape("indices", 1)[0]
		y := make([]float32, count*n[1])
		ops.Embedding(in.floats("weight", n...), in.indices("indices", 0, n[0], count), n[1], y)
		safetensors.Put(out, "output.output", []int{count, n[1]}, y)
	},
	"cross_entropy_forward": func(in *source, out safetensors.File) {
		n := in.shape("logits", 2)
		logProbs := make([]float32, n[0]*n[1])
		loss := ops.CrossEntropy(in.floats("logits", n...), in.indices("targets", lowest, n[1], n[0]), n[1], logProbs)
		one(out, "loss", loss)
		safetensors.Put(out, "output.log_probs", n, logProbs)
	},
	"cross_entropy_backward": func(in *source, out safetensors.File) {
		n := in.shape("log_probs", 2)
		dx, targets := make([]float32, n[0]*n[1]), in.indices("targets", lowest, n[1], n[0])
		ops.CrossEntropyBackward(in.floats("log_probs", n...), targets, n[1], in.number("argument.scale"), dx)
		safetensors.Put(out, "output.d_logits", n, dx)
	},
	"sample": func(in *source, out safetensors.File) {
		n, seeds := in.shape("logits", 2), take[uint64](in, "input.seeds")
		in.expect(len(seeds) == n[0], "input.seeds, one for each row")
		drawn := make([]int32, n[0])
		ops.Sample(in.floats("logits", n...), seeds, n[1], ops.Walk{}, in.number("argument.temperature"), drawn)
		safetensors.Put(out, "output.output", n[:1], drawn)
	},
}

const lowest = -1 << 31 // a target may be any negative number

// shape of an array of so many axes, none of them 0 long.
func (in *source) shape(name string, axes int) []int {
	shape := in.file["input."+name].Shape
	in.expect(len(shape) == axes, fmt.Sprintf("input.%s of %d axes", name, axes))
	for _, axis := range shape {
		in.expect(axis > 0, "input."+name+" that is not empty")
	}
	return shape
}

func (in *source) floats(name string, shape ...int) []float32 {
	values := take[float32](in, "input."+name)
	in.expect(reflect.DeepEqual(in.file["input."+name].Shape, shape), fmt.Sprintf("input.%s of shape %v", name, shape))
	return values
}

// indices, so many, from first up to end.
func (in *source) indices(name string, first, end, count int) []int32 {
	values := take[int32](in, "input."+name)
	in.expect(len(values) == count, fmt.Sprintf("input.%s, %d of them", name, count))
	for _, value := range values {
		in.expect(int(value) >= first && int(value) < end, fmt.Sprintf("input.%s below %d", name, end))
	}
	return values
}

// answers all goldens that can be answered; the error tells what is wrong with the others.
func answers(goldens, results string) error {
	done, wrong := 0, []string{}
	for name, operation := range operations {
		filepath.WalkDir(filepath.Join(goldens, name), func(from string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(from) != ".safetensors" {
				return nil // an operation without goldens is told by the judge
			}
			if err := answered(operation, goldens, from, results); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %v\n", from, err))
			}
			done++
			return nil
		})
	}
	if done == 0 {
		return errors.New(goldens + ": expected a folder of goldens, got none of these operations")
	}
	for _, sentence := range wrong {
		fmt.Fprint(os.Stderr, sentence)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d of %d goldens were not answered", len(wrong), done)
	}
	return nil
}

func answered(operation func(*source, safetensors.File), goldens, from, results string) error {
	name, err := filepath.Rel(goldens, from)
	if err != nil {
		return err
	}
	to := filepath.Join(results, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return onFile(from, to, operation)
}
