package ops

import (
	"math"
	"sort"

	"port/vector"
)

// Softmax is that of every row.
func Softmax(input []float32, cols int, output []float32) {
	vector.Share(len(input)/cols, 8*cols, func(first, last int) {
		for at := first * cols; at < last*cols; at += cols {
			x, y := input[at:at+cols], output[at:at+cols]
			total := vector.ExpShifted(x, vector.Maximum(x), y)
			vector.Scale(y, float32(1/total), y)
		}
	})
}

// SoftmaxBackward is y * (dOutput - sum(y * dOutput)), y = output.
func SoftmaxBackward(output, dOutput []float32, cols int, dInput []float32) {
	for at := 0; at < len(output); at += cols {
		y, dy, dx := output[at:at+cols], dOutput[at:at+cols], dInput[at:at+cols]
		inner := float32(vector.Dot(y, dy))
		for i := range dx {
			dx[i] = y[i] * (dy[i] - inner)
		}
	}
}

// before tells whether a comes before b in descending order, a NaN first.
func before(a, b float32) bool { return a > b || (a != a && b == b) }

// largest returns the columns of the k largest, in descending order, equal ones by lower column.
func largest(row []float32, k int) []int32 {
	const inserted = 32
	if k > inserted {
		order := make([]int32, len(row))
		for i := range order {
			order[i] = int32(i)
		}
		sort.SliceStable(order, func(i, j int) bool { return before(row[order[i]], row[order[j]]) })
		return order[:k]
	}
	order := make([]int32, 0, k+1)
	for i, x := range row {
		if len(order) == k && !before(x, row[order[k-1]]) {
			continue
		}
		if len(order) < k {
			order = append(order, 0)
		}
		place := len(order) - 1
		for ; place > 0 && before(x, row[order[place-1]]); place-- {
			order[place] = order[place-1]
		}
		order[place] = int32(i)
	}
	return order
}

// SoftmaxTopK is softmax over all columns, then the k largest of each row, renormalised: softmax over these logits.
func SoftmaxTopK(input []float32, cols, k int, weights []float32, indices []int32) {
	vector.Share(len(input)/cols, 16*cols, func(first, last int) {
		for row := first; row < last; row++ {
			x, w, chosen := input[row*cols:][:cols], weights[row*k:][:k], indices[row*k:][:k]
			copy(chosen, largest(x, k))
			for j, index := range chosen {
				w[j] = x[index]
			}
			total := vector.ExpShifted(w, w[0], w)
			vector.Scale(w, float32(1/total), w)
			for j := 0; math.IsNaN(float64(w[0])) && j < k; j++ {
				chosen[j] = int32(j) // where a probability is no number, every one is, and the first are the largest
			}
		}
	})
}

// SoftmaxTopKBackward is w * (dWeights - sum(w * dWeights)) at the chosen columns, 0 elsewhere.
func SoftmaxTopKBackward(weights []float32, indices []int32, dWeights []float32, cols, k int, dInput []float32) {
	clear(dInput)
	for row := 0; row*k < len(weights); row++ {
		w, dw := weights[row*k:][:k], dWeights[row*k:][:k]
		inner := float32(vector.Dot(w, dw))
		for j, index := range indices[row*k:][:k] {
			dInput[row*cols+int(index)] = w[j] * (dw[j] - inner)
		}
	}
}

func clear(x []float32) {
	for i := range x {
		x[i] = 0
	}
}
