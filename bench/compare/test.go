package compare

import "slices"

// rankTest is the exact two-sided p of the test of Mann and Whitney: how likely
// ranks at least as far apart are when both samples come from the same source.
// Ties count half. 1 when either sample is empty.
func rankTest(a, b []float64) float64 {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return 1
	}
	// Twice U, so that ties stay whole numbers.
	u := 0
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				u += 2
			case x == y:
				u++
			}
		}
	}
	// How many of all arrangements have which U: each of a's values either is
	// above a value of b or not.
	counts := arrangements(n, m)
	total, extreme := 0.0, 0.0
	far := abs(u - n*m)
	for v, ways := range counts {
		total += ways
		if abs(2*v-n*m) >= far {
			extreme += ways
		}
	}
	return min(extreme/total, 1)
}

// smallest is the least p that n and m values can have, however far apart they are.
func smallest(n, m int) float64 {
	ways := 1.0
	for i := range n {
		ways = ways * float64(m+i+1) / float64(i+1)
	}
	return min(2/ways, 1)
}

// arrangements counts, for each U from 0 to n·m, the ways in which n and m values
// can be ordered.
func arrangements(n, m int) []float64 {
	// table[j][u]: ways with j of the first kind among those looked at so far.
	table := make([][]float64, n+1)
	for j := range table {
		table[j] = make([]float64, n*m+1)
	}
	table[0][0] = 1
	for i := 1; i <= n+m; i++ {
		for j := min(i, n); j >= 1; j-- {
			// The i-th value is of the first kind: it is above the i-j of the
			// second that came before it.
			below := i - j
			if below > m {
				continue
			}
			for u := n * m; u >= below; u-- {
				table[j][u] += table[j-1][u-below]
			}
		}
	}
	return table[n]
}

// median of some values; 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

func abs(n int) int { return max(n, -n) }
