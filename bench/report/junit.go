package report

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// The XML for CI pipelines is a suite for the run, with a case for the run itself and a case for
// each threshold. The run's own case contains the failures that belong to no threshold.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		Time    string      `xml:"time,attr"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"`
		Out     string      `xml:"system-out,omitempty"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the verdict of a judged run as JUnit XML. A fault of the server is a failure. An
// invalid run without such a fault is an error.
func (r *Result) WriteJUnit(path string) error {
	class := "atelier-bench." + r.Scenario
	took := fmt.Sprintf("%.3f", r.Duration)
	own := make([]string, 0, len(r.Verdict.Failures))
	missed := map[string]string{} // keyed by threshold
	for _, f := range r.Verdict.Failures {
		if i := r.ofThreshold(f); i != "" {
			missed[i] = f
			continue
		}
		own = append(own, f)
	}
	suite := junitSuite{Name: class, Time: took, Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05")}
	add := func(name string, failures, errs []string, out string) {
		c := junitCase{Class: class, Name: name, Time: took, Out: out}
		suite.Tests++
		if len(failures) > 0 {
			c.Failure = &junitFault{failures[0], strings.Join(failures, "\n")}
			suite.Failures++
		} else if len(errs) > 0 {
			c.Error = &junitFault{errs[0], strings.Join(errs, "\n")}
			suite.Errors++
		}
		suite.Cases = append(suite.Cases, c)
	}
	add("run", own, r.Verdict.Invalid, r.About)
	for _, t := range r.Verdict.asked {
		var failures []string
		if f := missed[t]; f != "" {
			failures = []string{f}
		}
		out := ""
		for _, c := range r.Verdict.Checks {
			if c.Threshold == t {
				out = "it is " + c.text
			}
		}
		add(t, failures, nil, out)
	}
	b, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return err
	}
	return write(path, append([]byte(xml.Header), append(b, '\n')...))
}

// ofThreshold returns the threshold in a failure text; "" for none.
func (r *Result) ofThreshold(failure string) string {
	for _, t := range r.Verdict.asked {
		if strings.HasPrefix(failure, t+": ") {
			return t
		}
	}
	return ""
}
