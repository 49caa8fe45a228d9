// Package report presents the results of a load test: as a table for people, as JSON for programs,
// and as a verdict. A run is invalid if the generator was the slow part. A valid run can still
// fail.
package report
