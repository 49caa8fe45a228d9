package report

import "fmt"

// Count returns a number with its noun in the right form: "1 token", "2 tokens".
func Count(n int, what string) string { return fmt.Sprintf("%d %s", n, form(int64(n), what)) }

// counted is like Count, for large numbers: "1,234 tokens".
func counted(n int64, what string) string { return grouped(n) + " " + form(n, what) }

// form returns the singular or plural for n.
func form(n int64, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

// deliveries returns a number of deliveries with the noun in the right form.
func deliveries(n int) string {
	if n == 1 {
		return "1 delivery"
	}
	return fmt.Sprintf("%d deliveries", n)
}
