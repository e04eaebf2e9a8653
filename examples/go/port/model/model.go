// Package model is the model of docs/model.md: sizes, names, start, a training step, decoding.
package model

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"port/ops"
	"port/vector"
)

// Config has the sizes of a model, every one in elements.
type Config struct {
	Hidden, Layers, QHeads, KVHeads, HeadDim, Experts, TopK, FFN, Vocab int
	RopeBase, RopeAlpha, Eps, AuxAlpha                                  float32
}

// Tiny is the model that training steps are judged by.
var Tiny = Config{Hidden: 64, Layers: 2, QHeads: 4, KVHeads: 1, HeadDim: 16, Experts: 4, TopK: 2, FFN: 256, Vocab: 1000,
	RopeBase: 10000, RopeAlpha: 8, Eps: 1e-6, AuxAlpha: 0.01}

// Arrays by the parameters' names: parameters, gradients, moments.
type Arrays map[string][]float32

// Named is a parameter's name and shape.
type Named struct {
	Name  string
	Shape []int
}

// Size counts elements.
func (n Named) Size() int {
	size := 1
	for _, axis := range n.Shape {
		size *= axis
	}
	return size
}

func named(layer int, field string) string { return fmt.Sprintf("layers.%d.%s", layer, field) }

// Parameters of the model in its order.
func (c Config) Parameters() []Named {
	h, f, e := c.Hidden, c.FFN, c.Experts
	queries, keys := c.QHeads*c.HeadDim, c.KVHeads*c.HeadDim
	all := []Named{{"embedding", []int{c.Vocab, h}}}
	for layer := 0; layer < c.Layers; layer++ {
		for _, one := range []Named{
			{"attn_norm", []int{h}}, {"w_q", []int{queries, h}}, {"w_k", []int{keys, h}}, {"w_v", []int{keys, h}},
			{"w_o", []int{h, queries}}, {"ffn_norm", []int{h}}, {"router", []int{e, h}},
			{"gate", []int{e, f, h}}, {"up", []int{e, f, h}}, {"down", []int{e, h, f}},
		} {
			all = append(all, Named{named(layer, one.Name), one.Shape})
		}
	}
	return append(all, Named{"final_norm", []int{h}}, Named{"lm_head", []int{c.Vocab, h}})
}

func (c Config) scale() float32 { return float32(1 / math.Sqrt(float64(c.HeadDim))) }

// Start is where training begins: norms 1; weights normal, every tensor from a stream of its own, and of a layer's experts
// each has its own tensors.
func (c Config) Start(seed uint64, deviation float64) Arrays {
	arrays := Arrays{}
	draw := func(name string, values []float32) {
		stream, scale := Stream(seed, name), deviation
		if strings.HasSuffix(name, ".w_o") || strings.HasSuffix(name, ".down") {
			scale /= math.Sqrt(2 * float64(c.Layers))
		}
		for i := range values {
			values[i] = float32(normal(stream, uint64(i)) * scale)
		}
	}
	for _, one := range c.Parameters() {
		values := make([]float32, one.Size())
		arrays[one.Name] = values
		switch len(one.Shape) {
		case 1:
			for i := range values {
				values[i] = 1
			}
		case 2:
			draw(one.Name, values)
		case 3:
			at, size := strings.LastIndex(one.Name, "."), one.Shape[1]*one.Shape[2]
			for expert := 0; expert < c.Experts; expert++ {
				name := fmt.Sprintf("%s.experts.%d%s", one.Name[:at], expert, one.Name[at:])
				draw(name, values[expert*size:][:size])
			}
		}
	}
	return arrays
}

// Stream is a seed of 64 bits that belongs to names, texts and whole numbers: from the SHA-256 of their type, length and
// text.
func Stream(names ...any) uint64 {
	var text strings.Builder
	for _, name := range names {
		kind, written := "int", fmt.Sprint(name)
		if _, isText := name.(string); isText {
			kind = "str"
		}
		fmt.Fprintf(&text, "%s:%d:%s", kind, len(written), written)
	}
	digest := sha256.Sum256([]byte(text.String()))
	return binary.LittleEndian.Uint64(digest[:])
}

// word i of a seed: splitmix64 (Steele, Lea and Flood 2014).
func word(seed, i uint64) uint64 {
	z := (i+1)*0x9E3779B97F4A7C15 + seed
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// normal number i of a seed, nearly: the sum of the twelve 16-bit lanes of three words (Irwin-Hall).
func normal(seed, i uint64) float64 {
	sum := uint64(0)
	for at := 3 * i; at < 3*i+3; at++ {
		for lanes := word(seed, at); lanes > 0; lanes >>= 16 {
			sum += lanes & 0xFFFF
		}
	}
	return (float64(sum) - 12*32767.5) / 65536
}

// linear is x . w^T; x [rows, width], w [out, width].
func linear(x, w []float32, width int) []float32 {
	rows, out := len(x)/width, len(w)/width
	y := make([]float32, rows*out)
	ops.GEMM(vector.Plain(x, width), vector.Turned(w, width), rows, out, width, 1, 0, y)
	return y
}

// linearBackward is the gradient of w; that of x is added to dX.
func linearBackward(x, w []float32, width int, dY, dX []float32) []float32 {
	rows, out := len(x)/width, len(w)/width
	dW := make([]float32, len(w))
	ops.GEMM(vector.Turned(dY, out), vector.Plain(x, width), out, width, rows, 1, 0, dW)
	ops.GEMM(vector.Plain(dY, out), vector.Plain(w, width), rows, width, out, 1, 1, dX)
	return dW
}
