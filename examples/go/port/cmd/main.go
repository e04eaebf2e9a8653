// Command port runs the port on files: a training step, a start, decoding.
package main

import (
	"fmt"
	"math"
	"os"
	"reflect"

	"port/model"
	"port/ops"
	"port/safetensors"
)

const usage = `port answers IN OUT    the goldens of single operations: a folder to read, one to write
port golden IN OUT     the golden training step: its losses, its gradients at the places that the golden names
port step IN OUT       one update: of parameters, m, v, tokens, targets and settings by their names
port start OUT         the parameters of the tiny model as it starts, by seed 0
port generate IN OUT   a prompt continued`

func main() {
	commands := map[string]func(*source, safetensors.File){"golden": golden, "step": step, "generate": generate}
	var err error
	switch command := os.Args[1:]; {
	case len(command) == 2 && command[0] == "start":
		out := safetensors.File{}
		put(out, model.Tiny, "output.parameters.", model.Tiny.Start(0, 0.125))
		err = out.Write(command[1])
	case len(command) == 3 && command[0] == "answers":
		err = answers(command[1], command[2])
	case len(command) == 3 && commands[command[0]] != nil:
		err = onFile(command[1], command[2], commands[command[0]])
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func onFile(from, to string, run func(*source, safetensors.File)) (err error) {
	file, err := safetensors.Read(from)
	if err != nil {
		return err
	}
	in, out := &source{file}, safetensors.File{}
	defer func() {
		if lacking, is := recover().(lacks); is {
			err = lacking
		}
	}()
	run(in, out)
	return out.Write(to)
}

// A source is a file that is read; what it lacks ends the command, by a panic that onFile turns into its error.
type source struct{ file safetensors.File }

type lacks struct{ error }

func take[T safetensors.Number](in *source, name string) []T {
	values, err := safetensors.Get[T](in.file, name)
	if err != nil {
		panic(lacks{err})
	}
	return values
}

func (in *source) expect(condition bool, what string) {
	if !condition {
		panic(lacks{fmt.Errorf("expected %s, got other ones", what)})
	}
}

func (in *source) number(name string) float32 {
	values := take[float32](in, name)
	in.expect(len(values) == 1, name+", one number")
	return values[0]
}

func (in *source) whole(name string) int {
	values := take[int64](in, name)
	in.expect(len(values) == 1 && values[0] >= 0, name+", a whole number of at least 0")
	return int(values[0])
}

// model refuses sizes that make none.
func (in *source) model(c model.Config) model.Config {
	for _, size := range []int{c.Hidden, c.Layers, c.QHeads, c.KVHeads, c.HeadDim, c.Experts, c.TopK, c.FFN, c.Vocab} {
		in.expect(size > 0, "settings of a model: sizes of at least 1")
	}
	in.expect(c.QHeads%c.KVHeads == 0 && c.HeadDim%2 == 0 && c.TopK <= c.Experts,
		"settings of a model: q_heads a multiple of kv_heads, head_dim even, top_k at most experts")
	return c
}

// arrays that stand below a prefix, each of the shape that the model says.
func (in *source) arrays(c model.Config, prefix string) model.Arrays {
	found := model.Arrays{}
	for _, one := range c.Parameters() {
		found[one.Name] = take[float32](in, prefix+one.Name)
		in.expect(reflect.DeepEqual(in.file[prefix+one.Name].Shape, one.Shape), fmt.Sprintf("%s%s of shape %v", prefix, one.Name, one.Shape))
	}
	return found
}

// batch is tokens that the model has, and how many samples they are of.
func (in *source) batch(c model.Config, name string) ([]int32, int) {
	tokens, shape := take[int32](in, name), in.file[name].Shape
	in.expect(len(shape) == 2 && len(tokens) > 0, name+" of shape [batch, seq]")
	for _, token := range tokens {
		in.expect(token >= 0 && int(token) < c.Vocab, fmt.Sprintf("%s below %d", name, c.Vocab))
	}
	return tokens, shape[0]
}

func (in *source) targets(c model.Config, count int) []int32 {
	targets := take[int32](in, "input.targets")
	in.expect(len(targets) == count, "input.targets, one for each token")
	for _, target := range targets {
		in.expect(int(target) < c.Vocab, fmt.Sprintf("input.targets below %d", c.Vocab))
	}
	return targets
}

func put(out safetensors.File, c model.Config, prefix string, arrays model.Arrays) {
	for _, one := range c.Parameters() {
		safetensors.Put(out, prefix+one.Name, one.Shape, arrays[one.Name])
	}
}

func one(out safetensors.File, name string, value float32) {
	safetensors.Put(out, "output."+name, []int{1}, []float32{value})
}

func putLosses(out safetensors.File, l model.Losses) {
	one(out, "loss", l.CrossEntropy+l.AuxLoss)
	one(out, "cross_entropy", l.CrossEntropy)
	one(out, "aux_loss", l.AuxLoss)
	one(out, "norm", l.Norm)
}

func golden(in *source, out safetensors.File) {
	c := model.Tiny
	parameters := in.arrays(c, "input.parameters.")
	zeros := func() model.Arrays {
		arrays := model.Arrays{}
		for name, array := range parameters {
			arrays[name] = make([]float32, len(array))
		}
		return arrays
	}
	tokens, batch := in.batch(c, "input.tokens")
	training := model.Training{Adam: ops.Adam{Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, Step: 1}, ClipNorm: 1}
	state := model.State{Parameters: parameters, M: zeros(), V: zeros()}
	losses, gradients := c.Step(training, state, tokens, in.targets(c, len(tokens)), batch)
	putLosses(out, losses)
	for name, gradient := range gradients {
		squares, places := 0.0, take[int64](in, "input.places."+name)
		for _, g := range gradient {
			squares += float64(g) * float64(g)
		}
		at := make([]float32, len(places))
		for i, place := range places {
			in.expect(place >= 0 && int(place) < len(gradient), "input.places."+name+" within the gradient")
			at[i] = gradient[place]
		}
		safetensors.Put(out, "output.gradient."+name, []int{len(at)}, at)
		one(out, "gradient_norm."+name, float32(math.Sqrt(squares)))
	}
}

func step(in *source, out safetensors.File) {
	size := func(name string) int { return in.whole("settings." + name) }
	number := func(name string) float32 { return in.number("settings." + name) }
	c := in.model(model.Config{Hidden: size("hidden"), Layers: size("layers"), QHeads: size("q_heads"), KVHeads: size("kv_heads"),
		HeadDim: size("head_dim"), Experts: size("experts"), TopK: size("top_k"), FFN: size("ffn"), Vocab: size("vocab"),
		RopeBase: number("rope_base"), RopeAlpha: number("rope_alpha"), Eps: number("eps"), AuxAlpha: number("aux_alpha")})
	update := size("update")
	in.expect(update > 0 && update <= math.MaxInt32, "settings.update from 1 to 2^31 - 1")
	adam := ops.Adam{LR: number("lr"), Beta1: number("beta1"), Beta2: number("beta2"), Eps: number("adam_eps"),
		Step: int32(update)}
	training := model.Training{Adam: adam, WeightDecay: number("weight_decay"), ClipNorm: number("clip_norm")}
	state := model.State{Parameters: in.arrays(c, "input.parameters."), M: in.arrays(c, "input.m."), V: in.arrays(c, "input.v.")}
	tokens, batch := in.batch(c, "input.tokens")
	losses, gradients := c.Step(training, state, tokens, in.targets(c, len(tokens)), batch)
	putLosses(out, losses)
	put(out, c, "output.gradients.", gradients)
	put(out, c, "output.parameters.", state.Parameters)
	put(out, c, "output.m.", state.M)
	put(out, c, "output.v.", state.V)
}

func generate(in *source, out safetensors.File) {
	has := func(name string) bool { _, known := in.file["argument."+name]; return known }
	prompt, batch := in.batch(model.Tiny, "input.prompt")
	strategy := model.Strategy{Greedy: !has("seed")}
	if has("seed") {
		strategy.Seed, strategy.Temperature = uint64(in.whole("argument.seed")), in.number("argument.temperature")
	}
	if has("k") {
		strategy.Walk.K = in.whole("argument.k")
		in.expect(strategy.Walk.K > 0, "argument.k of at least 1")
	}
	if has("top_p") {
		strategy.Walk = ops.Walk{ByShare: true, Share: in.number("argument.top_p")}
	}
	parameters := in.arrays(model.Tiny, "input.parameters.")
	tokens := model.Tiny.Generate(parameters, prompt, batch, in.whole("argument.max_new"), strategy)
	safetensors.Put(out, "output.tokens", []int{batch, len(tokens) / batch}, tokens)
}
