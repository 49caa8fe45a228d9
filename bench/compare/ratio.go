package compare

import (
	"encoding/json"
	"fmt"
	"math"
)

// Side is one of the two servers that are compared.
type Side int

// The sides: the base, and the new server.
const (
	Base Side = iota
	New
)

func (s Side) String() string { return []string{"base", "new"}[s] }

// Order returns the order in which the sides run in a round. Rounds are counted from 0, and each
// round reverses the order. A machine that becomes slower therefore harms both sides equally.
func Order(round int) [2]Side {
	if round%2 == 1 {
		return [2]Side{New, Base}
	}
	return [2]Side{Base, New}
}

// Slower is the relative slowdown above which a work fails, if the slowdown is significant.
const Slower = 0.07

// Measurement is the result of one run of a work.
type Measurement struct {
	// Value is the measured number; 0 if the run has none.
	Value float64 `json:"value"`
	// Invalid contains the reasons why the value is meaningless. Failures contains the server's
	// errors.
	Invalid  []string `json:"invalid,omitempty"`
	Failures []string `json:"failures,omitempty"`
}

// Round is one run of each side, by [Side], within the same minute.
type Round [2]Measurement

// MarshalJSON uses the names of the sides.
func (r Round) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]Measurement{Base.String(): r[Base], New.String(): r[New]})
}

// Work is a load and the results of its rounds.
type Work struct {
	Name string `json:"work"`
	Unit string `json:"unit"`
	// Less means that lower values are better.
	Less bool `json:"less_is_better,omitempty"`
	// Short rounds only check whether everything works. Their values are not judged.
	Short  bool    `json:"short,omitempty"`
	Rounds []Round `json:"rounds"`
}

// Interval is the 95 % confidence interval of a ratio.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Row is the judgement of one work.
type Row struct {
	Work
	// Base and New are geometric means of the valid rounds, so that Ratio is exactly
	// their quotient. All three are 0 if no round is valid.
	Base float64 `json:"base"`
	New  float64 `json:"new"`
	// Ratio is above 1 if the new server is better: new/base, or base/new if less is
	// better.
	Ratio float64 `json:"ratio"`
	// Interval is the interval of the ratio. It is nil with fewer than two valid rounds.
	Interval *Interval `json:"interval_95"`
	Verdict  Verdict   `json:"verdict"`
	// Why names the runs that failed or are invalid.
	Why []string `json:"why,omitempty"`
}

// Verdicts of a row, in addition to [Better].
const (
	NotSlower Verdict = "ok"
	// Unclear means slower than the limit allows, but not significantly.
	Unclear  Verdict = "unclear: may be chance"
	Unjudged Verdict = "not judged"
	Fail     Verdict = "FAIL"
	Invalid  Verdict = "INVALID"
)

// Judge compares the two sides of a work. A round counts only if both of its runs are valid. An
// invalid round makes the work invalid, unless the valid rounds show that the new server is slower.
// A work with fewer than two valid rounds is also invalid.
//
// If the base had an error, the work is invalid, because there is no basis for comparison.
// Otherwise an error of the new server is a failure, whatever the values are.
func (w Work) Judge() Row {
	row := Row{Work: w}
	var base, now, ratios []float64 // logarithms
	var invalid bool
	var failed [2]bool
	for i, round := range w.Rounds {
		valid := len(round[Base].Invalid)+len(round[New].Invalid) == 0
		for side, m := range round {
			name := fmt.Sprintf("round %d, %v: ", i+1, Side(side))
			for _, why := range m.Failures {
				failed[side] = true
				row.Why = append(row.Why, name+why)
			}
			for _, why := range m.Invalid {
				row.Why = append(row.Why, name+why)
			}
			if valid && !(m.Value > 0) {
				valid = false
				row.Why = append(row.Why, name+"nothing was measured")
			}
		}
		if !valid {
			invalid = true
			continue
		}
		a, b := math.Log(round[Base].Value), math.Log(round[New].Value)
		base, now = append(base, a), append(now, b)
		if w.Less {
			a, b = b, a
		}
		ratios = append(ratios, b-a)
	}
	if len(ratios) > 0 {
		row.Base, row.New, row.Ratio = math.Exp(mean(base)), math.Exp(mean(now)), math.Exp(mean(ratios))
		row.Interval = interval(ratios)
	}
	switch slower := row.Ratio < 1-Slower; {
	case failed[Base]:
		row.Verdict = Invalid
	case failed[New]:
		row.Verdict = Fail
	case !w.Short && row.Interval != nil && slower && row.Interval.High < 1:
		row.Verdict = Fail
	case invalid || row.Interval == nil:
		row.Verdict = Invalid
	case w.Short:
		row.Verdict = Unjudged
	case slower:
		row.Verdict = Unclear
	case row.Interval.Low > 1:
		row.Verdict = Better
	default:
		row.Verdict = NotSlower
	}
	return row
}

// interval returns the confidence interval of Student's t for the logarithms of paired
// ratios. It uses logarithms because twice as fast and half as fast are equally far from 1. If
// the sides are swapped, the ends become their reciprocals. A bootstrap would have only 126
// different samples of five rounds, and ten of three.
func interval(logarithms []float64) *Interval {
	n := len(logarithms)
	if n < 2 {
		return nil
	}
	m, squares := mean(logarithms), 0.0
	for _, v := range logarithms {
		squares += (v - m) * (v - m)
	}
	half := student(n-1) * math.Sqrt(squares/float64(n-1)/float64(n))
	return &Interval{Low: math.Exp(m - half), High: math.Exp(m + half)}
}

// MaxRounds is the maximum number of rounds for which student is exact.
const MaxRounds = 20

// student returns the 0.975 quantile of Student's t for some degrees of freedom. Beyond the end of
// the table, it returns the last value, which makes the interval slightly too wide.
func student(freedom int) float64 {
	table := [MaxRounds - 1]float64{
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
	}
	return table[min(freedom, len(table))-1]
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
