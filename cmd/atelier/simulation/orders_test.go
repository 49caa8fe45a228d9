package simulation

import (
	"testing"

	"github.com/anishathalye/porcupine"

	pb "atelier/actors/token/tokenpb"
)

// at is an operation with the times of its request and response.
func at(began, ended int64, input, output any) porcupine.Operation {
	return porcupine.Operation{ClientId: int(began), Input: input, Call: began, Output: output, Return: ended}
}

func TestImpossibleOrdersOfPositionsAreDetected(t *testing.T) {
	read, write := operation{}, operation{wrote: true}
	for name, c := range map[string]struct {
		history []porcupine.Operation
		legal   bool
	}{
		"a read after a write":             {[]porcupine.Operation{at(1, 2, write, uint64(5)), at(3, 4, read, uint64(5))}, true},
		"a read during a write, before it": {[]porcupine.Operation{at(1, 4, write, uint64(5)), at(2, 3, read, uint64(4))}, true},
		"a write without a response":       {[]porcupine.Operation{at(1, 2, write, uint64(5)), at(3, 4, read, uint64(6))}, true},
		"a stale read":                     {[]porcupine.Operation{at(1, 2, write, uint64(5)), at(3, 4, read, uint64(4))}, false},
		"a read that goes backwards":       {[]porcupine.Operation{at(1, 9, write, uint64(5)), at(2, 3, read, uint64(5)), at(4, 5, read, uint64(4))}, false},
		"two writes at one position":       {[]porcupine.Operation{at(1, 4, write, uint64(5)), at(2, 3, write, uint64(5))}, false},
	} {
		if legal := porcupine.CheckOperations(positions, c.history); legal != c.legal {
			t.Errorf("%s: legal is %v", name, legal)
		}
	}
}

func TestViolationsOfTokenRulesAreDetected(t *testing.T) {
	once, ttl := pb.Policy_POLICY_SINGLE_USE, pb.Policy_POLICY_TTL
	step := func(op tokenOp, p pb.Policy) tokenStep { return tokenStep{op, p} }
	for name, c := range map[string]struct {
		history []porcupine.Operation
		legal   bool
	}{
		"used once":                         {[]porcupine.Operation{at(1, 2, step(detokenize, once), done), at(3, 4, step(detokenize, once), used)}, true},
		"used twice":                        {[]porcupine.Operation{at(1, 2, step(detokenize, once), done), at(3, 4, step(detokenize, once), done)}, false},
		"used several times":                {[]porcupine.Operation{at(1, 2, step(detokenize, ttl), done), at(3, 4, step(detokenize, ttl), done)}, true},
		"reported as used but never used":   {[]porcupine.Operation{at(1, 2, step(detokenize, once), used)}, false},
		"used by a call without a response": {[]porcupine.Operation{at(1, 99, step(detokenize, once), unknown), at(3, 4, step(introspect, once), used)}, true},
		"used after its end":                {[]porcupine.Operation{at(1, 2, step(revoke, ttl), done), at(3, 4, step(detokenize, ttl), done)}, false},
		"used during its end":               {[]porcupine.Operation{at(1, 4, step(endSession, ttl), done), at(2, 3, step(detokenize, ttl), done)}, true},
		"active after its end":              {[]porcupine.Operation{at(1, 2, step(endSession, ttl), done), at(3, 4, step(introspect, ttl), active)}, false},
		"reported as ended but never ended": {[]porcupine.Operation{at(1, 2, step(detokenize, ttl), over)}, false},
		"ended, then active again":          {[]porcupine.Operation{at(1, 99, step(revoke, ttl), unknown), at(3, 4, step(detokenize, ttl), over), at(5, 6, step(introspect, ttl), active)}, false},
	} {
		if legal := porcupine.CheckOperations(tokenRules, c.history); legal != c.legal {
			t.Errorf("%s: legal is %v", name, legal)
		}
	}
}
