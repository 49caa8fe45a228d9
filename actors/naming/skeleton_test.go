package naming

import "testing"

func TestNamesThatLookAlikeHaveOneSkeleton(t *testing.T) {
	for _, like := range [][]string{
		{"Facilitator", "Fаcilitator", "FACILITATOR", "Facilіtator", "Fac1l1tat0r", "ＦＡＣＩＬＩＴＡＴＯＲ", "𝐅𝐚𝐜𝐢𝐥𝐢𝐭𝐚𝐭𝐨𝐫", "Fa\u200bcilitаtоr", "FaciIitator"},
		{"Marna", "Mama", "Маmа"},
		// Names in other scripts.
		{"ニ人", "二人"}, {"エ場", "工場"}, {"ةر", "ۃر"},
		// Upper and lower case of a letter have one skeleton.
		{"BOB", "ВОВ", "вов", "bob"}, {"THX", "ТНХ", "тнх"},
	} {
		for _, name := range like {
			if Skeleton(name) != Skeleton(like[0]) {
				t.Errorf("Skeleton(%q) = %q, Skeleton(%q) = %q", name, Skeleton(name), like[0], Skeleton(like[0]))
			}
		}
	}
	for _, other := range []string{"Facilitatorin", "Fasilitator", "Иван", "Γιώργος", "Ada", "😀"} {
		if Skeleton(other) == Skeleton(Facilitator) {
			t.Errorf("%q has the skeleton of %q", other, Facilitator)
		}
	}
}
