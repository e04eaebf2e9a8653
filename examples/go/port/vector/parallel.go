package vector

import (
	"runtime"
	"sync"
)

const alone = 1 << 20 // operations below which a goroutine costs more than it saves

// Share calls run on parts of 0 <= i < count, each of which costs work; who computes a part does not change its bits.
func Share(count, work int, run func(first, last int)) {
	parts := min(runtime.GOMAXPROCS(0), count)
	if float64(count)*float64(work) < alone || parts < 2 {
		run(0, count)
		return
	}
	each := (count + parts - 1) / parts
	var group sync.WaitGroup
	for first := each; first < count; first += each {
		group.Add(1)
		go func(first int) {
			defer group.Done()
			run(first, min(first+each, count))
		}(first)
	}
	run(0, each)
	group.Wait()
}
