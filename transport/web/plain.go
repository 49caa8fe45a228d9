package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"atelier/transport/httpapi"
	"atelier/transport/language"
)

// The page that a server without the app shows.
//
//go:embed plain.html
var plainPage string

// howToBuild returns the text of the app's pages on a server without the app.
func howToBuild(at httpapi.Prefix) func(t *language.Texts) string {
	return func(t *language.Texts) string {
		p := &t.Plain
		return "<main>" + messageHTML(p.Running) +
			"<h2>" + html.EscapeString(p.Build.Title) + "</h2><p>" + html.EscapeString(p.Build.Text) + "</p>" +
			"<pre><code>make build</code></pre>" +
			"<h2>" + html.EscapeString(p.Programs) + "</h2><ul>" +
			`<li><a href="` + at.At("/api/openapi.json") + `">/api/openapi.json</a> <span class="quiet">` + html.EscapeString(p.REST) + "</span></li>" +
			`<li><a href="` + at.At("/api/asyncapi.json") + `">/api/asyncapi.json</a> <span class="quiet">` + html.EscapeString(p.Messages) + "</span></li>" +
			"</ul></main>"
	}
}

// nothingHere returns the text of all other pages.
func nothingHere(at httpapi.Prefix) func(t *language.Texts) string {
	return func(t *language.Texts) string {
		return "<main><h1>" + html.EscapeString(t.Plain.Missing) + `</h1><p><a href="` + at.At("/") + `">` + html.EscapeString(t.Plain.Start) + "</a></p></main>"
	}
}

// plain returns the page of a server without the app, and its Content-Security-Policy: no scripts,
// and its only style is identified by its hash.
func plain() (shell, string, error) {
	s, err := cut(plainPage)
	if err != nil {
		return shell{}, "", fmt.Errorf("plain page: %w", err)
	}
	s.noscript = false
	_, rest, ok := strings.Cut(plainPage, "<style>")
	style, _, ok2 := strings.Cut(rest, "</style>")
	if !ok || !ok2 {
		return shell{}, "", fmt.Errorf("plain page: no <style>")
	}
	sum := sha256.Sum256([]byte(style))
	return s, "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", nil
}
