package demo

import (
	"math"
	"math/rand/v2"
	"time"
)

// plan has the decisions about a person that are made in advance. Times are those of the
// codelab, before they are made faster.
type plan struct {
	// stays is how long the person is on each step.
	stays []time.Duration
	// stuck is the step on which the person gets stuck, -1 for none; asks says
	// that they ask for help then. Many do not.
	stuck int
	asks  bool
	// silent people say nothing of how they are doing.
	silent bool
}

// The beginning goes by in a hurry: on the first step there is nothing to see.
const (
	begins = 14 * time.Minute
	hurry  = 12
)

// makePlan decides about the i-th person. Of ten people two get stuck, and one
// or the other of these does not ask.
func makePlan(rng *rand.Rand, steps []time.Duration, i int) plan {
	// Half of the people take between 0.8 and 1.25 times what the text says.
	pace := spread(rng, 0.33)
	p := plan{stuck: -1, silent: i%7 == 3}
	now, left := 0, time.Duration(float64(begins)*spread(rng, 0.5))
	for n, d := range steps {
		stay := time.Duration(float64(d) * pace * spread(rng, 0.2))
		hurried := min(stay, left)
		if left -= hurried; hurried > 0 {
			now = n
		}
		p.stays = append(p.stays, stay-hurried+hurried/hurry)
	}
	switch i % 10 {
	case 2:
		p.stuck, p.asks = now, true
	case 5:
		p.stuck, p.asks = min(now+rng.IntN(3), len(steps)-1), i%20 == 5
	}
	return p
}

// spread draws a factor around 1, by a log-normal distribution, at most 3 times
// as much or as little.
func spread(rng *rand.Rand, sigma float64) float64 {
	return min(max(math.Exp(rng.NormFloat64()*sigma), 1.0/3), 3)
}

// between draws a time.
func between(rng *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(rng.Int64N(int64(most-least)+1))
}
