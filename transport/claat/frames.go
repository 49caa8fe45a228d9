package claat

import (
	"html"
	"net/url"
	"regexp"
	"strings"

	parser "golang.org/x/net/html"

	"atelier/actors/markdown"
)

// These patterns match elements that the app does not show. The import replaces a frame or a video
// of another host with a link. It replaces a button that contains a link with the button's content.
var (
	frame  = regexp.MustCompile(`(?is)<(?:iframe\b[^>]*>.*?</iframe|video\b[^>]*>.*?</video)\s*>`)
	button = regexp.MustCompile(`(?is)^\s*<button\b[^>]*>(.*)</button\s*>\s*$`)
)

// withoutCode returns a text of the same length in which code is replaced by spaces.
func withoutCode(text string) string {
	_, code := markdown.Addresses(text)
	if len(code) == 0 {
		return text
	}
	out := []byte(text)
	for _, c := range code {
		for i := c.Start; i < c.End; i++ {
			out[i] = ' '
		}
	}
	return string(out)
}

// linked replaces frames and videos of other hosts in a block with links. plain is the block as
// returned by withoutCode.
func linked(text, plain string) string {
	var out strings.Builder
	done := 0
	for _, at := range frame.FindAllStringIndex(plain, -1) {
		out.WriteString(text[done:at[0]] + link(text[at[0]:at[1]]))
		done = at[1]
	}
	return out.String() + text[done:]
}

// link returns the link that replaces a frame or a video. An element without the address of another
// host stays unchanged.
func link(element string) string {
	src, title, size := source(element)
	to, err := url.Parse(src)
	if err != nil || to.Scheme != "https" && to.Scheme != "http" || to.Host == "" {
		return element // a file of the same import, no source, or another scheme
	}
	if m := videoAddress.FindStringSubmatch(src); m != nil {
		return `<a href="https://www.youtube.com/watch?v=` + m[1] + `"><img src="https://img.youtube.com/vi/` + m[1] + `/hqdefault.jpg" alt="` + html.EscapeString(or(title, "Video")) + `"></a>`
	}
	class := ""
	if to.Scheme == "https" && len(element) > 2 && (element[1]|0x20) == 'i' {
		// The app shows the page in a frame if the server permits its host.
		class = ` class="embed"` + size
	}
	return `<a` + class + ` href="` + html.EscapeString(src) + `">` + html.EscapeString(or(title, to.Host)) + `</a>`
}

var pixels = regexp.MustCompile(`^[0-9]{1,4}$`)

// source returns the address of a frame or a video, its title, and its width and height as
// attributes.
func source(element string) (src, title, size string) {
	for t := parser.NewTokenizer(strings.NewReader(element)); ; {
		switch t.Next() {
		case parser.ErrorToken:
			return src, title, size
		case parser.StartTagToken, parser.SelfClosingTagToken:
			for _, a := range t.Token().Attr {
				switch {
				case a.Key == "src" && src == "":
					src = strings.TrimSpace(a.Val)
				case a.Key == "title" && title == "":
					title = oneLine(a.Val)
				case (a.Key == "width" || a.Key == "height") && pixels.MatchString(a.Val):
					size += " " + a.Key + `="` + a.Val + `"`
				}
			}
		}
	}
}

// buttonLink returns the content of a button that contains a link. claat writes download links as
// such buttons.
func buttonLink(text string) (content string, ok bool) {
	m := button.FindStringSubmatch(text)
	if m == nil || strings.Contains(strings.ToLower(m[1]), "<button") || !strings.Contains(m[1], "](") && !strings.Contains(strings.ToLower(m[1]), "<a ") {
		return "", false
	}
	var lines []string
	for l := range strings.Lines(strings.TrimSpace(m[1])) {
		lines = append(lines, strings.TrimSpace(l))
	}
	return strings.Join(lines, "\n") + "\n", true
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}
