package api

import "errors"

const (
	// historyPage is the largest page of the chat history.
	historyPage = "1000"
	// maxPages is the maximum number of pages that are read. They hold ten million messages.
	maxPages = 10_000
)

// History reads the chat of a codelab page by page, from the newest page to the oldest. It calls
// visit for each message. Within a page, the oldest message is first.
func (c *Client) History(s Session, codelab string, visit func(ChatMessage)) error {
	before := ""
	for range maxPages {
		path := "/codelabs/" + codelab + "/chat?limit=" + historyPage
		if before != "" {
			path += "&before=" + before
		}
		var page []ChatMessage
		if err := c.Get(s, path, &page); err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		for _, m := range page {
			visit(m)
		}
		if page[0].ID == before {
			return errors.New("the server returned the same page of the chat history again")
		}
		before = page[0].ID
	}
	return errors.New("the chat history has too many pages")
}
