// Package latency keeps latencies in HDR histograms: every value is counted,
// quantiles come from the merged counts and are never averaged.
package latency
