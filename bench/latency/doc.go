// Package latency records latencies in HDR histograms: every value is counted, and quantiles are
// computed from the merged counts and never averaged.
package latency
