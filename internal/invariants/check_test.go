package invariants

import "testing"

func TestCheck(t *testing.T) {
	before := Violations()
	Check(true, "kept")
	func() {
		defer func() {
			if stopped := recover() != nil; stopped != Enabled {
				t.Errorf("a broken promise stops the program: %v, enabled %v", stopped, Enabled)
			}
		}()
		Check(false, "broken")
	}()
	if got := Violations() - before; got != 1 {
		t.Errorf("%d violations counted", got)
	}
}
