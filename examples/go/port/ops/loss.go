package ops

import (
	"math"

	"port/vector"
)

// CrossEntropy writes logProbs of every row, and returns the mean over the targets that are not negative.
func CrossEntropy(logits []float32, targets []int32, vocab int, logProbs []float32) float32 {
	vector.Share(len(targets), 8*vocab, func(first, last int) {
		for row := first; row < last; row++ {
			x, y := logits[row*vocab:][:vocab], logProbs[row*vocab:][:vocab]
			largest := vector.Maximum(x)
			logSum := float32(math.Log(vector.ExpShifted(x, largest, y)))
			for i, x := range x {
				y[i] = (x - largest) - logSum
			}
		}
	})
	total, counted := 0.0, 0
	for row, target := range targets {
		if target >= 0 {
			total -= float64(logProbs[row*vocab+int(target)])
			counted++
		}
	}
	if counted == 0 {
		return 0
	}
	return float32(total / float64(counted))
}

// CrossEntropyBackward is (exp(logProbs) - onehot(target)) * scale, 0 where a target is negative.
func CrossEntropyBackward(logProbs []float32, targets []int32, vocab int, scale float32, dLogits []float32) {
	vector.Share(len(targets), 6*vocab, func(first, last int) {
		for row := first; row < last; row++ {
			y, dx := logProbs[row*vocab:][:vocab], dLogits[row*vocab:][:vocab]
			if targets[row] < 0 {
				clear(dx)
				continue
			}
			vector.ExpOf(y, 1, 0, dx)
			vector.Scale(dx, scale, dx)
			at := targets[row]
			dx[at] = (vector.Exp(y[at]) - 1) * scale // 1 is taken off first: near it the two differ
		}
	})
}
