package ops

import "port/vector"

// ExpertSort is a counting sort of the (token, slot) pairs by expert, in token order.
func ExpertSort(indices, offsets, position []int32) {
	for e := range offsets {
		offsets[e] = 0
	}
	for _, index := range indices {
		offsets[index+1]++
	}
	for e := 1; e < len(offsets); e++ {
		offsets[e] += offsets[e-1]
	}
	next := append([]int32(nil), offsets...)
	for pair, index := range indices {
		position[pair] = next[index]
		next[index]++
	}
}

// PairsOf returns the pair that each row is of; false where position is no permutation.
func PairsOf(position []int32) ([]int, bool) {
	pairs := make([]int, len(position))
	for i := range pairs {
		pairs[i] = -1
	}
	for pair, row := range position {
		if row < 0 || int(row) >= len(pairs) || pairs[row] >= 0 {
			return nil, false
		}
		pairs[row] = pair
	}
	return pairs, true
}

// ExpertDispatch is output[position[t, j]] = input[t]; pairs is what PairsOf makes of position.
func ExpertDispatch(input []float32, pairs []int, topK, width int, output []float32) {
	for row, pair := range pairs {
		copy(output[row*width:][:width], input[pair/topK*width:])
	}
}

// ExpertDispatchBackward is dInput[t] = sum over j of dOutput[position[t, j]].
func ExpertDispatchBackward(dOutput []float32, position []int32, topK, width int, dInput []float32) {
	gather(dOutput, nil, position, topK, width, dInput)
}

// ExpertCombine is output[t] = sum over j of weights[t, j] * input[position[t, j]].
func ExpertCombine(input, weights []float32, position []int32, topK, width int, output []float32) {
	gather(input, weights, position, topK, width, output)
}

// gather takes every weight as 1 where there are none.
func gather(input, weights []float32, position []int32, topK, width int, output []float32) {
	for pair, row := range position {
		weight, from, to := float32(1), input[int(row)*width:][:width], output[pair/topK*width:][:width]
		if weights != nil {
			weight = weights[pair]
		}
		if pair%topK == 0 {
			vector.Scale(from, weight, to)
		} else {
			vector.Axpy(from, weight, to)
		}
	}
}

// ExpertCombineBackward is dInput[position[t, j]] = weights[t, j] * dOutput[t] and
// dWeights[t, j] = dOutput[t] . input[position[t, j]].
func ExpertCombineBackward(input, weights []float32, position []int32, dOutput []float32, topK, width int, dInput, dWeights []float32) {
	for pair, row := range position {
		dy, at := dOutput[pair/topK*width:][:width], int(row)*width
		vector.Scale(dy, weights[pair], dInput[at:])
		dWeights[pair] = float32(vector.Dot(dy, input[at:]))
	}
}

// AuxLoss is the loss of one layer; a token counts once for an expert, however often its slots name it.
func AuxLoss(probs []float32, indices []int32, topK int, alpha float32, counts, means []float32) float32 {
	experts := len(counts)
	tokens := len(probs) / experts
	counted, sums := make([]float64, experts), make([]float64, experts)
	for t := 0; t < tokens; t++ {
		chosen := indices[t*topK:][:topK]
		for j, index := range chosen {
			if !holds(chosen[:j], index) {
				counted[index]++
			}
		}
		for e, p := range probs[t*experts:][:experts] {
			sums[e] += float64(p)
		}
	}
	total := 0.0
	for e := range counts {
		mean := sums[e] / float64(tokens)
		counts[e], means[e] = float32(counted[e]), float32(mean)
		total += counted[e] / float64(tokens) * mean
	}
	return float32(float64(alpha) * float64(experts) * total)
}

func holds(values []int32, wanted int32) bool {
	for _, value := range values {
		if value == wanted {
			return true
		}
	}
	return false
}

// AuxLossBackward goes through the means alone: the counts are constants.
func AuxLossBackward(counts []float32, tokens int, alpha, scale float32, dProbs []float32) {
	factor := float64(scale) * float64(alpha) * float64(len(counts)) / (float64(tokens) * float64(tokens))
	for i := range dProbs {
		dProbs[i] = float32(factor * float64(counts[i%len(counts)]))
	}
}
