package bustest

import (
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/durable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheNetSatisfiesTheBusContract(t *testing.T) {
	Run(t, func(t *testing.T) (buses [3]durable.Bus, stopC func()) {
		n := NewNet()
		for i, name := range []string{"a", "b", "c"} {
			var stop func()
			buses[i], stop = n.Node(name)
			t.Cleanup(stop)
			stopC = stop
		}
		return buses, stopC
	})
}

// A bus that delays messages still satisfies the contract.
func TestADelayingNetSatisfiesTheBusContract(t *testing.T) {
	Run(t, func(t *testing.T) (buses [3]durable.Bus, stopC func()) {
		n := NewNet()
		n.Disturb(func(m Message) Fate { return Fate{Delay: time.Duration(rand.IntN(2000)) * time.Microsecond} })
		for i, name := range []string{"a", "b", "c"} {
			var stop func()
			buses[i], stop = n.Node(name)
			t.Cleanup(stop)
			stopC = stop
		}
		return buses, stopC
	})
}
