package ops

import (
	"math"

	"port/vector"
)

// ArgMax is the column of each row's largest logit, the lowest among equals; a NaN counts as the largest.
func ArgMax(logits []float32, vocab int, output []int32) {
	for row := range output {
		x, best := logits[row*vocab:][:vocab], 0
		for column := range x {
			if before(x[column], x[best]) {
				best = column
			}
		}
		output[row] = int32(best)
	}
}

// A Walk says which columns a draw passes, and in which order: all in column order; with K above 0 the K largest logits,
// descending; with ByShare the smallest prefix of the descending probabilities whose sum reaches Share.
type Walk struct {
	K       int
	ByShare bool
	Share   float32
}

// Sample makes one draw per row; temperature 0 is ArgMax.
func Sample(logits []float32, seeds []uint64, vocab int, walk Walk, temperature float32, output []int32) {
	if temperature == 0 {
		ArgMax(logits, vocab, output)
		return
	}
	vector.Share(len(output), 16*vocab, func(first, last int) {
		for row := first; row < last; row++ {
			output[row] = walk.draw(logits[row*vocab:][:vocab], uniform(seeds[row], row), temperature)
		}
	})
}

// uniform is in [0, 1): a multiple of 2^-24.
func uniform(seed uint64, row int) float64 {
	state := uint32(seed^(uint64(row)*12345))*1664525 + 1013904223
	return float64(state>>8) / (1 << 24)
}

func (w Walk) draw(logits []float32, u float64, temperature float32) int32 {
	shift := float64(vector.Maximum(logits))
	tempered := make([]float32, len(logits)) // in float64 a small temperature makes no quotient infinite
	for i, x := range logits {
		tempered[i] = float32((float64(x) - shift) / float64(temperature))
	}
	var order []int32
	switch {
	case w.ByShare:
		order = largest(tempered, len(logits))
	case w.K > 0 && w.K < len(logits):
		order = largest(logits, w.K)
	case w.K > 0:
		order = largest(logits, len(logits))
	}
	weights := tempered
	if order != nil {
		weights = make([]float32, len(order))
		for i, column := range order {
			weights[i] = tempered[column]
		}
	}
	vector.ExpShifted(weights, 0, weights)
	share := float32(1)
	if w.ByShare {
		share = w.Share
	}
	place := take(weights, share, u)
	if order == nil {
		return int32(place)
	}
	return order[place]
}

// take is the place of the first weight with u < cumulative share; the first of all where a weight is no number.
func take(weights []float32, share float32, u float64) int {
	total := 0.0
	for _, weight := range weights {
		total += float64(weight)
	}
	if share < 1 {
		enough := float64(share) * total
		total = float64(weights[0])
		for j := 1; j < len(weights) && total < enough && !math.IsNaN(enough); j++ {
			total += float64(weights[j])
		}
	}
	place, cumulative := 0, float64(weights[0])
	for u*total >= cumulative && place+1 < len(weights) {
		place++
		cumulative += float64(weights[place])
	}
	return place
}
