package credential

import "strconv"

// ranges maps leading digits to brands, according to the card networks' public tables. The first
// matching range decides.
var ranges = []struct {
	first, last int // both bounds have the same number of digits
	brand       string
}{
	{34, 34, "amex"}, {37, 37, "amex"},
	{300, 305, "diners"}, {36, 36, "diners"}, {38, 39, "diners"},
	{3528, 3589, "jcb"},
	{6011, 6011, "discover"}, {644, 649, "discover"}, {65, 65, "discover"},
	{62, 62, "unionpay"}, {81, 81, "unionpay"},
	{51, 55, "mastercard"}, {2221, 2720, "mastercard"},
	{50, 50, "maestro"}, {56, 58, "maestro"}, {63, 63, "maestro"}, {67, 67, "maestro"},
	{4, 4, "visa"},
}

// brand returns the network of a card number, or "unknown".
func brand(number []byte) string {
	for _, r := range ranges {
		n := len(strconv.Itoa(r.first))
		lead, err := strconv.Atoi(string(number[:n]))
		if err == nil && lead >= r.first && lead <= r.last {
			return r.brand
		}
	}
	return "unknown"
}
