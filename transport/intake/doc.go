// Package intake takes files in: it finds out what they are, refuses what is
// not wanted, and puts the rest where contents are kept. Nothing is left of a
// file that is refused or breaks off.
//
// Images lose what their files tell beside the picture: where and when it was
// taken, with what, by whom. This works on the containers and decodes no pixels,
// so pictures stay as they are to the bit and a small file that unpacks to a huge
// picture costs nothing. What is copied is a list of what is known to belong to
// the picture; anything else goes, and so does everything behind the picture's
// end. The orientation stays, in an EXIF block that holds nothing else, and so do
// colour profiles. Files whose structure is broken are refused.
package intake
