package knob

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sizeUnits are the suffixes of sizes, longest first.
var sizeUnits = []struct {
	suffix string
	factor int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}}

// parseBytes reads 65536 or 64KiB.
func parseBytes(s string) (int64, error) {
	digits, factor := s, int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			digits, factor = rest, u.factor
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/factor {
		return 0, fmt.Errorf("%q is not a size such as 65536 or 64KiB", s)
	}
	return int64(n) * factor, nil
}

// parseDuration reads 250us, 2s, or a plain number of milliseconds.
func parseDuration(s string) (time.Duration, error) {
	if n, err := strconv.ParseUint(s, 10, 63); err == nil {
		if int64(n) > math.MaxInt64/int64(time.Millisecond) {
			return 0, fmt.Errorf("%q milliseconds are too many", s)
		}
		return time.Duration(n) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration such as 250us, 2s or 1500 (milliseconds)", s)
	}
	return d, nil
}

// number reads a value as the number its bounds are in.
func (k Knob) number(s string) (int64, error) {
	switch k.Type {
	case TypeBytes:
		return parseBytes(s)
	case TypeDuration:
		d, err := parseDuration(s)
		return int64(d), err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return n, nil
}

// spelledBool reads the spellings of a boolean that variables and flags may have. YAML has true and false
// only: there yes, no, on and off mean different things to different readers.
func spelledBool(s string) string {
	switch s {
	case "1", "yes":
		return "true"
	case "0", "no":
		return "false"
	}
	return s
}

// check says what is wrong with a value.
func (k Knob) check(s string) error {
	switch k.Type {
	case TypeString:
		return nil
	case TypeBool:
		if s != "true" && s != "false" {
			return fmt.Errorf("%q is neither true nor false", s)
		}
		return nil
	case TypeEnum:
		if !slices.Contains(k.Allowed, s) {
			return fmt.Errorf("%q is not one of %s", s, k.Range())
		}
		return nil
	}
	if slices.Contains(k.Allowed, s) {
		return nil
	}
	n, err := k.number(s)
	if err == nil && (n < k.Min || n > k.Max) {
		err = fmt.Errorf("%s is out of range, want %s", s, k.Range())
	}
	return err
}

// format writes a number in the unit of the setting.
func (k Knob) format(n int64) string {
	switch k.Type {
	case TypeDuration:
		s := time.Duration(n).String()
		if strings.HasSuffix(s, "m0s") {
			s = strings.TrimSuffix(s, "0s")
		}
		if strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
		return s
	case TypeBytes:
		for i := 3; i >= 0; i-- {
			if u := sizeUnits[i]; n >= u.factor && n%u.factor == 0 {
				return strconv.FormatInt(n/u.factor, 10) + u.suffix
			}
		}
	}
	return strconv.FormatInt(n, 10)
}
