package markdown

import "bytes"

// cursor reads the beginning of a line and counts columns. A tab extends to the next multiple of
// four columns.
type cursor struct {
	text  []byte
	at    int
	col   int
	spare int // remaining columns of a partially consumed tab
	steps int
}

// peek returns the number of columns of white space at the cursor, and the text after it.
func (c *cursor) peek() (indent int, rest []byte) {
	col, i := c.col+c.spare, c.at
	for ; i < len(c.text); i++ {
		if c.text[i] == '\t' {
			col += 4 - col%4
		} else if c.text[i] == ' ' {
			col++
		} else {
			break
		}
	}
	c.steps += i - c.at + 1
	return col - c.col, c.text[i:]
}

// skip consumes columns of white space.
func (c *cursor) skip(n int) {
	k := min(c.spare, n)
	c.spare -= k
	c.col += k
	for n -= k; n > 0 && c.at < len(c.text); c.at++ {
		width := 1
		if c.text[c.at] == '\t' {
			width = 4 - c.col%4
		}
		k = min(width, n)
		c.col, c.spare, n = c.col+k, width-k, n-k
	}
}

// take consumes bytes other than white space.
func (c *cursor) take(n int) {
	c.at += n
	c.col += n
}

// quoted consumes the marker of a block quote.
func (c *cursor) quoted(indent int) {
	c.skip(indent)
	c.take(1)
	if indent, _ := c.peek(); indent > 0 {
		c.skip(1)
	}
}

// item consumes the marker of a list item and returns the indentation of its content. An item can
// interrupt a paragraph only if it has content and, if it is numbered, its number is one.
func (c *cursor) item(indent int, rest []byte, inParagraph bool) (width int, ok bool) {
	mark := 1
	switch b := rest[0]; {
	case b == '-' || b == '+' || b == '*':
	case b >= '0' && b <= '9':
		n := 0
		for mark = 0; mark < len(rest) && mark < 9 && rest[mark] >= '0' && rest[mark] <= '9'; mark++ {
			n = n*10 + int(rest[mark]-'0')
		}
		if mark == len(rest) || rest[mark] != '.' && rest[mark] != ')' || inParagraph && n != 1 {
			return 0, false
		}
		mark++
	default:
		return 0, false
	}
	behind := rest[mark:]
	if len(behind) > 0 && behind[0] != ' ' && behind[0] != '\t' || inParagraph && len(bytes.TrimLeft(behind, " \t")) == 0 {
		return 0, false
	}
	c.skip(indent)
	c.take(mark)
	space, content := c.peek()
	if space > 4 || len(content) == 0 {
		space = 1
	}
	c.skip(space)
	return indent + mark + space, true
}
