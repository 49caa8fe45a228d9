package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
)

// The page of a server without the app.
//
//go:embed plain.html
var plainPage string

// howToBuild is what a server without the app says on the app's pages.
const howToBuild = `<main>
<h1>Atelier is running</h1>
<p>This program was built without the browser app. Everything else works: the command line, and the interface for programs.</p>
<h2>To add the app</h2>
<p>Install Node 20.19 or newer, then build again and restart the server:</p>
<pre><code>make build</code></pre>
<h2>For programs</h2>
<ul>
<li><a href="/api/openapi.json">/api/openapi.json</a> <span class="quiet">the REST interface</span></li>
<li><a href="/api/asyncapi.json">/api/asyncapi.json</a> <span class="quiet">the messages</span></li>
</ul>
</main>`

// nothingHere is what it says on all others.
const nothingHere = `<main>
<h1>Nothing is at this address</h1>
<p><a href="/">To the start</a></p>
</main>`

// plain returns the page of a server without the app, and its
// Content-Security-Policy: nothing runs, and its one style is named by its
// hash.
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
