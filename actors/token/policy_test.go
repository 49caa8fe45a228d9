package token

import (
	"testing"

	pb "atelier/actors/token/tokenpb"
)

// TestEveryPolicyHasARow: each kind that records can have is found by its name
// and says what it means.
func TestEveryPolicyHasARow(t *testing.T) {
	for number, name := range pb.Policy_name {
		if kind := pb.Policy(number); kind != pb.Policy_POLICY_UNSPECIFIED && PolicyOf(kind).Kind != kind {
			t.Errorf("%s has no row", name)
		}
	}
	for _, p := range Policies() {
		if found, ok := ParsePolicy(p.Name); !ok || found != p || PolicyName(p.Kind) != p.Name || p.About == "" {
			t.Errorf("%+v is not found by its name, or not explained", p)
		}
	}
	if p := PolicyOf(pb.Policy_POLICY_UNSPECIFIED); !p.Once {
		t.Errorf("what is no policy is %s, and lets tokens be used again", p.Name)
	}
}
