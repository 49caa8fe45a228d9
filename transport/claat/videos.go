package claat

import (
	"regexp"
	"strings"
)

// The forms of a video are an image with the address of a page or player of YouTube, and the
// element that claat writes.
var (
	videoAddress = regexp.MustCompile(`^<?https?://(?:(?:www\.|m\.)?youtube(?:-nocookie)?\.com/(?:watch\?(?:[^ ]*&)?v=|embed/|shorts/|v/)|youtu\.be/)([A-Za-z0-9_-]{6,20})(?:[?&#/>].*)?$`)
	videoElement = regexp.MustCompile(`<video id="([A-Za-z0-9_-]{6,20})">[ \t]*</video>`)
)

// embedded matches the alternative text of an image that claat replaces with an embedded page: the
// address of the page.
var embedded = regexp.MustCompile(`^https?://[^\s<>()\[\]]+$`)

// embed returns an image that links to a page. picture is the image's address, which a title can
// follow. The alternative text is the title, or else the address of the page.
func embed(page, picture string) string {
	alt := page
	if _, behind, ok := strings.Cut(picture, " "); ok {
		if title := unquoted(strings.TrimSpace(behind)); title != "" && !strings.ContainsAny(title, "[]") {
			alt = title
		}
	}
	return "[![" + alt + "](" + picture + ")](" + page + ")"
}

// maxAddress bounds the address and title of an image, in bytes.
const maxAddress = 1000

// videos replaces each video with its still image, which links to the video. Images that stand for
// a page become links to this page. The text then contains neither a frame nor a third-party
// script.
func videos(text string) string {
	if !strings.Contains(text, "youtu") && !strings.Contains(text, "<video") && !strings.Contains(text, "![http") {
		return text
	}
	text = videoElement.ReplaceAllString(text, "[![Video](https://img.youtube.com/vi/$1/hqdefault.jpg)](https://www.youtube.com/watch?v=$1)")
	var b strings.Builder
	done, mark, open, inCode := 0, -1, -1, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			inCode = false // a guess, which is wrong for inline code over two lines
		case '`':
			inCode = !inCode
		case '!':
			mark = i
		case '[':
			open = -1
			if mark >= 0 && mark == i-1 && !inCode {
				open = i
			}
		case ']':
			from := open
			open = -1
			if from < 0 || !strings.HasPrefix(text[i:], "](") {
				continue
			}
			rest := text[i+2 : min(len(text), i+2+maxAddress)]
			size := strings.IndexByte(rest, ')')
			if size < 0 {
				continue
			}
			address, _, _ := strings.Cut(strings.TrimSpace(rest[:size]), " ") // a title can follow the address
			alt := text[from+1 : i]
			if embedded.MatchString(alt) && (from < 2 || text[from-2] != '[') {
				b.WriteString(text[done:from-1] + embed(alt, strings.TrimSpace(rest[:size])))
				done = i + 2 + size + 1
				i = done - 1
				continue
			}
			m := videoAddress.FindStringSubmatch(address)
			if m == nil {
				continue
			}
			if strings.TrimSpace(alt) == "" {
				alt = "Video"
			}
			picture := "![" + alt + "](https://img.youtube.com/vi/" + m[1] + "/hqdefault.jpg)"
			if from < 2 || text[from-2] != '[' { // links cannot be nested
				picture = "[" + picture + "](https://www.youtube.com/watch?v=" + m[1] + ")"
			}
			b.WriteString(text[done:from-1] + picture)
			done = i + 2 + size + 1
			i = done - 1
		}
	}
	b.WriteString(text[done:])
	return b.String()
}
