package compare

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// confidence is the confidence level of the interval around a median. The interval is not used.
const confidence = 0.95

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds) // NewSample sorts its values
}

// rankTest returns the two-sided p of the test of Mann and Whitney: the probability of ranks at
// least as far apart if both samples have the same source. It is 1 if a sample is empty or all
// values are equal.
func rankTest(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	return benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
}

// smallest returns the least p that n and m values can have, however far apart they are.
func smallest(n, m int) float64 {
	a, b := make([]float64, n), make([]float64, m)
	for i := range a {
		a[i] = float64(i)
	}
	for i := range b {
		b[i] = float64(n + i)
	}
	return rankTest(a, b)
}

// median returns the median of some values; 0 for none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return benchmath.AssumeNothing.Summary(sample(values), confidence).Center
}
