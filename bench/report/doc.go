// Package report presents the results of a load test: as a table for people, as JSON for
// machines, and as a verdict. A run can be invalid, when the generator was the slow part,
// and a valid one can fail.
package report
