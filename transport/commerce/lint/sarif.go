package lint

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
)

// The part of SARIF 2.1.0 that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Summary sarifText `json:"shortDescription"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
		Logical []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
)

var sarifLevel = map[Severity]string{Error: "error", Warning: "warning", Advice: "note"}

func (r Report) sarif(w io.Writer) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver.Name = "commerce lint"
	index := map[string]int{}
	for i, rule := range rules {
		index[rule.Code] = i
		s := sarifRule{ID: rule.Code, Summary: sarifText{rule.Summary}}
		s.Default.Level = sarifLevel[rule.Severity]
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, s)
	}
	for _, f := range r.Findings {
		var at sarifLocation
		at.Physical.Artifact.URI = (&url.URL{Path: filepath.ToSlash(f.File)}).EscapedPath()
		at.Physical.Region.StartLine = max(f.Line, 1)
		if f.Pointer != "" {
			at.Logical = []sarifLogical{{f.Pointer}}
		}
		run.Results = append(run.Results, sarifResult{f.Code, index[f.Code], sarifLevel[f.Severity], sarifText{f.Message}, []sarifLocation{at}})
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
