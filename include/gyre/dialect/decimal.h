/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers with a fraction as texts, in every dialect. Included by kernel.h behind strings.h.
 *
 *     gyre_append_f64(gyre, reply, part, number, decimals)  as printf("%.*f", decimals, number): exactly rounded, a tie to
 *                                                     the even digit; decimals above 1074 count as 1074
 *     gyre_append_f64(gyre, reply, part, number, GYRE_SHORTEST)  as printf("%.17g", number), with the fewest digits that
 *                                                     a reader (strtod) turns into the same number
 *
 * Infinities are "inf" and "-inf"; a number that is none is "nan", whatever its sign. All arithmetic is that of integers, so
 * every device writes the same bytes. The numbers are held exactly, in 37 words: a few steps for numbers of every day, some
 * hundreds near 1e300 and 1e-300.
 */
#ifndef GYRE_DIALECT_DECIMAL_H
#define GYRE_DIALECT_DECIMAL_H

#ifdef GYRE_HAS_F64

#define GYRE_SHORTEST 0xffffffffu

/* ---- exact arithmetic ---- */

#define GYRE_EXACT_LIMBS_                                                                                    \
    37 /* 34 behind the point, for 2^-1076, and 3 before it; or 33 before it, for 2^1024 */
#define GYRE_EXACT_GROUPS_ 35 /* of nine digits, for 309 */
#define GYRE_EXACT_GROUP_  1000000000u

/* A number of 32-bit limbs, the least first. Limbs below `low` and from `high` on are 0. */
typedef struct gyre_exact_ {
    gyre_u32 limbs[GYRE_EXACT_LIMBS_];
    gyre_u32 low, high;
    gyre_u32 point; /* how many limbs are behind the point */
} gyre_exact_;

/* mantissa * 2^power */
GYRE_LATE_ void gyre_exact_set_(gyre_exact_ *exact, gyre_u64 mantissa, gyre_i32 power)
{
    const gyre_u32 point = power < 0 ? (gyre_u32)(31 - power) / 32 : 0;
    const gyre_u32 bit = (gyre_u32)((gyre_i32)(32 * point) + power), first = bit / 32, shift = bit % 32;
    for (gyre_u32 i = 0; i < GYRE_EXACT_LIMBS_; i++)
        exact->limbs[i] = 0;
    exact->limbs[first] = (gyre_u32)(mantissa << shift);
    exact->limbs[first + 1] = (gyre_u32)(mantissa >> (32 - shift));
    exact->limbs[first + 2] = shift ? (gyre_u32)(mantissa >> (64 - shift)) : 0;
    exact->low = first;
    exact->high = first + 3;
    exact->point = point;
}

GYRE_LATE_ void gyre_exact_multiply_(gyre_exact_ *exact, gyre_u32 factor)
{
    gyre_u64 carry = 0;
    for (gyre_u32 i = exact->low; i < exact->high; i++) {
        carry += (gyre_u64)exact->limbs[i] * factor;
        exact->limbs[i] = (gyre_u32)carry;
        carry >>= 32;
    }
    if (carry)
        exact->limbs[exact->high++] = (gyre_u32)carry;
    while (exact->low < exact->high && exact->limbs[exact->low] == 0)
        exact->low++;
}

/* Divides a whole number. Returns the remainder. */
GYRE_LATE_ gyre_u32 gyre_exact_divide_(gyre_exact_ *exact, gyre_u32 divisor)
{
    gyre_u64 rest = 0;
    exact->low = 0;
    for (gyre_u32 i = exact->high; i > 0; i--) {
        rest = rest << 32 | exact->limbs[i - 1];
        exact->limbs[i - 1] = (gyre_u32)(rest / divisor);
        rest %= divisor;
    }
    while (exact->high > 0 && exact->limbs[exact->high - 1] == 0)
        exact->high--;
    return (gyre_u32)rest;
}

/* Takes the part before the point, which is below 2^64, out of the number. */
GYRE_LATE_ gyre_u64 gyre_exact_take_(gyre_exact_ *exact)
{
    const gyre_u32 point = exact->point;
    const gyre_u64 whole = exact->limbs[point] | (gyre_u64)exact->limbs[point + 1] << 32;
    exact->limbs[point] = 0;
    exact->limbs[point + 1] = 0;
    exact->high = exact->high < point ? exact->high : point;
    exact->low = exact->low < exact->high ? exact->low : exact->high;
    return whole;
}

/* The whole part of mantissa * 2^power * 10^tens, which is below 2^64. *rest: 1 when there is a fraction behind it. Numbers that are
 * divided by ten are whole. */
GYRE_LATE_ gyre_u64 gyre_exact_scaled_(gyre_u64 mantissa, gyre_i32 power, gyre_i32 tens, int *rest)
{
    gyre_exact_ exact;
    gyre_u64 whole;
    gyre_u32 left = 0;
    gyre_exact_set_(&exact, mantissa, power);
    for (; tens >= 9; tens -= 9)
        gyre_exact_multiply_(&exact, GYRE_EXACT_GROUP_);
    for (; tens > 0; tens--)
        gyre_exact_multiply_(&exact, 10);
    for (; tens <= -9; tens += 9)
        left |= gyre_exact_divide_(&exact, GYRE_EXACT_GROUP_);
    for (; tens < 0; tens++)
        left |= gyre_exact_divide_(&exact, 10);
    whole = gyre_exact_take_(&exact);
    for (gyre_u32 i = exact.low; i < exact.high; i++)
        left |= exact.limbs[i];
    *rest = left != 0;
    return whole;
}

/* ---- the fewest digits ---- */

/* Eighteen digits, and whether anything is behind them. */
typedef struct gyre_eighteen_ {
    gyre_u64 digits;
    int rest;
} gyre_eighteen_;

typedef struct gyre_shortest_ {
    gyre_u64 digits;   /* without zeros at the end, except for 0 itself */
    gyre_u32 count;    /* of the digits: 1 .. 17 */
    gyre_i32 exponent; /* the first digit stands for so many powers of ten */
} gyre_shortest_;

/* |number| = mantissa * 2^power, for a finite number */
GYRE_LATE_ gyre_u64 gyre_f64_take_apart_(gyre_u64 bits, gyre_i32 *power)
{
    const gyre_u32 biased = (gyre_u32)(bits >> 52) & 0x7ff;
    const gyre_u64 fraction = bits & (((gyre_u64)1 << 52) - 1);
    *power = (gyre_i32)(biased ? biased : 1) - 1075;
    return biased ? fraction | (gyre_u64)1 << 52 : fraction;
}

/* Whether a reader takes `value` for the number between whose neighbours' middles it lies. */
GYRE_LATE_ int gyre_shortest_reads_back_(gyre_u64 value, const gyre_eighteen_ *low,
                                         const gyre_eighteen_ *high, int even)
{
    const int above = value > low->digits || (value == low->digits && !low->rest && even);
    const int below = value < high->digits || (value == high->digits && (high->rest || even));
    return above && below;
}

GYRE_LATE_ void gyre_eighteen_cut_(gyre_eighteen_ *number)
{
    number->rest |= number->digits % 10 != 0;
    number->digits /= 10;
}

/*
 * The fewest digits that read back as the number: rounded to 1, 2, 3 ... digits, until the result lies between the middles to its
 * neighbours. The middle below a power of two is nearer than the middle above it.
 */
GYRE_LATE_ gyre_shortest_ gyre_f64_shortest_(gyre_u64 bits)
{
    gyre_i32 power;
    const gyre_u64 mantissa = gyre_f64_take_apart_(bits, &power);
    const gyre_u64 nearer = mantissa == (gyre_u64)1 << 52 && power > -1074 ? 1 : 2;
    const int even = !(mantissa & 1);
    gyre_shortest_ shortest = {0, 1, 0};
    gyre_eighteen_ low, number, high;
    gyre_u64 unit = (gyre_u64)100000 * 1000000 * 1000000;
    if (mantissa == 0)
        return shortest;
    /* 78913 / 2^18 is the logarithm of 2; 400 keeps what is shifted above 0. The guess may be too small by 1. */
    shortest.exponent =
        ((63 - (gyre_i32)gyre_clz_u64(mantissa) + power) * 78913 + (400 << 18)) / (1 << 18) - 400;
    number.digits = gyre_exact_scaled_(mantissa, power, 17 - shortest.exponent, &number.rest);
    low.digits = gyre_exact_scaled_(4 * mantissa - nearer, power - 2, 17 - shortest.exponent, &low.rest);
    high.digits = gyre_exact_scaled_(4 * mantissa + 2, power - 2, 17 - shortest.exponent, &high.rest);
    if (number.digits >= 10 * unit) {
        gyre_eighteen_cut_(&low);
        gyre_eighteen_cut_(&number);
        gyre_eighteen_cut_(&high);
        shortest.exponent++;
    }
    for (;; shortest.count++, unit /= 10) {
        const gyre_u64 behind = number.digits % unit, middle = unit / 2;
        shortest.digits = number.digits / unit;
        if (behind > middle || (behind == middle && (number.rest || (shortest.digits & 1))))
            shortest.digits++;
        if (shortest.count == 17 || gyre_shortest_reads_back_(shortest.digits * unit, &low, &high, even))
            break;
    }
    if (shortest.digits == 10) { /* 9.5 and above, as one digit */
        shortest.digits = 1;
        shortest.exponent++;
    }
    return shortest;
}

/* ---- writing ---- */

/* Texts of up to 32 letters, built before they are appended. */
typedef struct gyre_letters_ {
    char text[32];
    gyre_u32 count;
} gyre_letters_;

GYRE_LATE_ void gyre_letters_put_(gyre_letters_ *letters, char letter)
{
    letters->text[letters->count++] = letter;
}

/* "e+07", "e-324" */
GYRE_LATE_ void gyre_letters_exponent_(gyre_letters_ *letters, gyre_i32 exponent)
{
    const gyre_u32 size = (gyre_u32)(exponent < 0 ? -exponent : exponent);
    gyre_letters_put_(letters, 'e');
    gyre_letters_put_(letters, exponent < 0 ? '-' : '+');
    if (size >= 100)
        gyre_letters_put_(letters, (char)('0' + size / 100));
    gyre_letters_put_(letters, (char)('0' + size / 10 % 10));
    gyre_letters_put_(letters, (char)('0' + size % 10));
}

/* As "%.17g": with an exponent below 1e-4 and from 1e17 on. */
GYRE_LATE_ void gyre_letters_shortest_(gyre_letters_ *letters, const gyre_shortest_ *number)
{
    const int far = number->exponent < -4 || number->exponent >= 17;
    const gyre_i32 whole =
        far ? 1 : number->exponent + 1; /* digits before the point; 0 or below: "0." and zeros */
    gyre_u64 unit = 1;
    for (gyre_u32 i = 1; i < number->count; i++)
        unit *= 10;
    if (whole <= 0) {
        gyre_letters_put_(letters, '0');
        gyre_letters_put_(letters, '.');
        for (gyre_i32 i = whole; i < 0; i++)
            gyre_letters_put_(letters, '0');
    }
    for (gyre_i32 i = 0; i < whole || i < (gyre_i32)number->count; i++, unit /= 10) {
        if (i == whole && i > 0)
            gyre_letters_put_(letters, '.');
        gyre_letters_put_(letters, unit ? (char)('0' + number->digits / unit % 10) : '0');
    }
    if (far)
        gyre_letters_exponent_(letters, number->exponent);
}

GYRE_LATE_ gyre_part gyre_append_letters_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                          gyre_part part, const gyre_letters_ *letters)
{
    gyre_u32 at;
    part = gyre_longer_(gyre, reply, size, part, letters->count, &at);
    for (gyre_u32 i = 0; at && i < letters->count; i++)
        reply[at + i] = (gyre_u8)letters->text[i];
    return part;
}

/* The part before the point in groups of nine digits, the last first, out of `exact`. Returns how many digits it has. */
GYRE_LATE_ gyre_u32 gyre_exact_groups_(gyre_exact_ *exact, gyre_u32 *groups)
{
    gyre_u32 count = 0, digits = 1;
    gyre_u64 whole;
    if (exact->point == 0) {
        do
            groups[count++] = gyre_exact_divide_(exact, GYRE_EXACT_GROUP_);
        while (exact->high > 0);
    } else {
        whole = gyre_exact_take_(exact);
        do {
            groups[count++] = (gyre_u32)(whole % GYRE_EXACT_GROUP_);
            whole /= GYRE_EXACT_GROUP_;
        } while (whole);
    }
    for (gyre_u32 top = groups[count - 1] / 10; top; top /= 10)
        digits++;
    return digits + 9 * (count - 1);
}

/* Writes the digits behind the point, and takes them out of `exact`. */
GYRE_LATE_ void gyre_decimals_write_(GYRE_GLOBAL gyre_u8 *to, gyre_exact_ *exact, gyre_u32 count)
{
    for (gyre_u32 done = 0; done < count; done += 9) {
        const gyre_u32 most = count - done < 9 ? count - done : 9;
        gyre_u32 factor = 1, group;
        for (gyre_u32 i = 0; i < most; i++)
            factor *= 10;
        gyre_exact_multiply_(exact, factor);
        group = (gyre_u32)gyre_exact_take_(exact);
        for (gyre_u32 i = most; i > 0; i--, group /= 10)
            to[done + i - 1] = (gyre_u8)('0' + group % 10);
    }
}

/* Whether what is left behind the last digit rounds it up. */
GYRE_LATE_ int gyre_exact_rounds_up_(const gyre_exact_ *exact, int odd)
{
    const gyre_u32 top = exact->point, first = top ? exact->limbs[top - 1] : 0;
    if (first != 0x80000000u)
        return first > 0x80000000u;
    for (gyre_u32 i = exact->low; i + 1 < top; i++)
        if (exact->limbs[i])
            return 1;
    return odd;
}

/* Adds 1 to the last digit of `count` digits with a point among them. Returns 1 when all were nines, which are zeros then. */
GYRE_LATE_ int gyre_digits_raise_(GYRE_GLOBAL gyre_u8 *digits, gyre_u32 count)
{
    for (gyre_u32 i = count; i > 0; i--) {
        if (digits[i - 1] == '.')
            continue;
        if (digits[i - 1] != '9') {
            digits[i - 1]++;
            return 0;
        }
        digits[i - 1] = '0';
    }
    return 1;
}

/* As "%.*f": the digits of the whole part, then the decimals. */
GYRE_LATE_ gyre_part gyre_append_fixed_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                        gyre_part part, gyre_u64 bits, gyre_u32 decimals)
{
    gyre_exact_ exact;
    gyre_u32 groups[GYRE_EXACT_GROUPS_], at;
    gyre_i32 power;
    const gyre_u64 mantissa = gyre_f64_take_apart_(bits, &power);
    const gyre_u32 sign = (gyre_u32)(bits >> 63);
    gyre_exact_set_(&exact, mantissa, power);
    const gyre_u32 whole = gyre_exact_groups_(&exact, groups);
    const gyre_u32 count = whole + (decimals ? decimals + 1 : 0);
    part = gyre_longer_(gyre, reply, size, part, sign + count, &at);
    if (!at)
        return part;
    if (sign)
        reply[at++] = '-';
    for (gyre_u32 i = 0; i < whole; i++, groups[(i - 1) / 9] /= 10)
        reply[at + whole - 1 - i] = (gyre_u8)('0' + groups[i / 9] % 10);
    if (decimals) {
        reply[at + whole] = '.';
        gyre_decimals_write_(reply + at + whole + 1, &exact, decimals);
    }
    if (!gyre_exact_rounds_up_(&exact, reply[at + count - 1] & 1) || !gyre_digits_raise_(reply + at, count))
        return part;
    part = gyre_longer_(gyre, reply, size, part, 1, &at);
    if (!at)
        return part;
    for (gyre_u32 i = 0; i < count; i++, at--)
        reply[at] = reply[at - 1];
    reply[at] = '1';
    return part;
}

GYRE_LATE_ gyre_part gyre_append_f64_(gyre_context *gyre, GYRE_GLOBAL gyre_u8 *reply, gyre_u32 size,
                                      gyre_part part, gyre_f64 number, gyre_u32 decimals)
{
    const gyre_u64 bits = gyre_bits_from_f64(number), infinite = (gyre_u64)0x7ff << 52;
    const gyre_u64 absolute = bits & ~((gyre_u64)1 << 63);
    const int negative = absolute != bits;
    gyre_letters_ letters;
    gyre_shortest_ shortest;
    letters.count = 0;
    if (absolute > infinite)
        return gyre_append_text_(gyre, reply, size, part, "nan", 3);
    if (absolute == infinite)
        return gyre_append_text_(gyre, reply, size, part, negative ? "-inf" : "inf", negative ? 4u : 3u);
    if (decimals != GYRE_SHORTEST)
        return gyre_append_fixed_(gyre, reply, size, part, bits, decimals < 1074 ? decimals : 1074);
    if (negative)
        gyre_letters_put_(&letters, '-');
    shortest = gyre_f64_shortest_(absolute);
    gyre_letters_shortest_(&letters, &shortest);
    return gyre_append_letters_(gyre, reply, size, part, &letters);
}
#define gyre_append_f64(gyre_, reply_, part_, number_, decimals_)                                            \
    ((void)((part_) = gyre_append_f64_((gyre_), (GYRE_GLOBAL gyre_u8 *)(reply_), sizeof(*(reply_)), (part_), \
                                       (number_), (decimals_))))

#endif

#endif
