package simulator

import "strings"

// waID is how the provider writes a person's number: digits only. Where a country
// has added a digit to its mobile numbers, people knew each other by the shorter or
// longer form before, and the provider kept to one of them. Both can be written to;
// answers and callbacks always have the provider's form:
//
//   - Brazil: mobile numbers got a 9 after the area code. The provider writes it in
//     the areas that got it first, and nowhere else.
//   - Mexico: a mobile number has had a 1 after the country code, which is no longer
//     dialed. The provider still writes it.
func waID(number string) string {
	n := digits(number)
	switch {
	case strings.HasPrefix(n, "55"):
		return brazilianID(n)
	case strings.HasPrefix(n, "52") && len(n) == len("525512345678") && n[2] != '1':
		return "521" + n[2:]
	}
	return n
}

// ninthDigitAreas are the Brazilian areas in which the provider writes the ninth digit:
// São Paulo, Rio de Janeiro and Espírito Santo.
const ninthDigitAreas = "11 12 13 14 15 16 17 18 19 21 22 24 27 28"

// brazilianID is waID for a number of Brazil. A landline's local number begins with a
// digit from 2 to 5, and has eight digits.
func brazilianID(n string) string {
	const local = len("55") + len("11") // where the local number begins
	if len(n) <= local {
		return n
	}

	hasNinth := strings.Contains(ninthDigitAreas, n[2:local])
	switch rest := n[local:]; {
	case len(rest) == 9 && rest[0] == '9' && !hasNinth:
		return n[:local] + rest[1:]
	case len(rest) == 8 && rest[0] >= '6' && hasNinth:
		return n[:local] + "9" + rest
	}
	return n
}
