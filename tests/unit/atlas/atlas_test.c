// atlas_test.c - classes, the group of transforms, addresses and content identity: published numbers and whole ranges.
#include "atlas/content.h"
#include "base/system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// ---- classes

// Bit by bit, as the tables of the atlas tell it.
static int class_by_bits(int byte)
{
    static const int modality[2][2] = {{0, 2}, {1, 0}}; // by bits 4 and 5
    int              bit[8];
    for (int i = 0; i < 8; i++) bit[i] = byte >> i & 1;
    return 24 * (2 * bit[7] + bit[6]) + 8 * modality[bit[4]][bit[5]] + 4 * bit[3] + 2 * bit[2] + bit[1];
}

static void test_every_byte(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        int class_id = holo_atlas_class((uint8_t)byte), canonical = holo_atlas_byte(class_id);
        assert_int_equal(class_id, class_by_bits(byte));
        assert_int_equal(holo_atlas_class((uint8_t)canonical), class_id);
        assert_true(canonical <= byte);
    }
}

static void test_every_class(void **state)
{
    (void)state;
    int all = 0;
    for (int c = 0; c < HOLO_ATLAS_CLASSES; c++) {
        HoloAtlasParts p;
        uint8_t        member[HOLO_ATLAS_MEMBERS_MAX];
        int            count = holo_atlas_members(c, member);
        assert_true(holo_atlas_parts(c, &p));
        assert_int_equal(24 * p.scope + 8 * p.modality + p.slot, c);
        assert_true(p.scope < 4 && p.modality < 3 && p.slot < 8);
        assert_int_equal(count, p.modality ? 2 : 4);
        assert_int_equal(member[0], holo_atlas_byte(c));
        for (int i = 0; i < count; i++) assert_int_equal(holo_atlas_class(member[i]), c);
        all += count;
    }
    assert_int_equal(all, 256);
}

static void test_published_classes(void **state)
{
    (void)state;
    static const struct {
        uint8_t byte;
        int     class_id, scope, modality, slot;
    } rows[] = {
        {0x2A, 21, 0, 2, 5}, {0xC0, 72, 3, 0, 0}, {0x30, 0, 0, 0, 0},  {0x00, 0, 0, 0, 0},  {0x0E, 7, 0, 0, 7},
        {0x10, 8, 0, 1, 0},  {0x20, 16, 0, 2, 0}, {0x40, 24, 1, 0, 0}, {0xEE, 95, 3, 2, 7},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloAtlasParts p;
        assert_int_equal(holo_atlas_class(rows[i].byte), rows[i].class_id);
        assert_true(holo_atlas_parts(rows[i].class_id, &p));
        assert_int_equal(p.scope, rows[i].scope);
        assert_int_equal(p.modality, rows[i].modality);
        assert_int_equal(p.slot, rows[i].slot);
    }
    static const uint8_t zero[] = {0x00, 0x01, 0x30, 0x31};
    uint8_t              member[HOLO_ATLAS_MEMBERS_MAX];
    assert_int_equal(holo_atlas_members(0, member), 4);
    assert_memory_equal(member, zero, 4);
}

static void test_no_such_class(void **state)
{
    (void)state;
    static const int none[] = {-1, 96, 1000, INT32_MIN, INT32_MAX};
    for (int i = 0; i < HOLO_COUNT(none); i++) {
        HoloAtlasParts p;
        uint8_t        member[HOLO_ATLAS_MEMBERS_MAX];
        assert_int_equal(holo_atlas_byte(none[i]), -1);
        assert_false(holo_atlas_parts(none[i], &p));
        assert_int_equal(holo_atlas_members(none[i], member), 0);
        assert_int_equal(holo_transform_class((HoloTransform){1, 1, 1, 1}, none[i]), -1);
    }
}

// ---- transforms: the elements by number, and a table of their products

enum { ELEMENTS = 192 };

static HoloTransform element(int i)
{
    return (HoloTransform){(uint8_t)(i / 48), (uint8_t)(i / 16 % 3), (uint8_t)(i / 2 % 8), (uint8_t)(i % 2)};
}

static int number(HoloTransform a)
{
    assert_true(a.r < 4 && a.d < 3 && a.t < 8 && a.m < 2);
    return ((a.r * 3 + a.d) * 8 + a.t) * 2 + a.m;
}

static uint8_t product[ELEMENTS][ELEMENTS]; // first row, then column

static int make_products(void **state)
{
    (void)state;
    for (int a = 0; a < ELEMENTS; a++)
        for (int b = 0; b < ELEMENTS; b++) product[a][b] = (uint8_t)number(holo_transform_then(element(a), element(b)));
    return 0;
}

static void test_group(void **state)
{
    (void)state;
    for (int a = 0; a < ELEMENTS; a++) {
        bool seen[ELEMENTS] = {0};
        int  inverse        = number(holo_transform_inverse(element(a)));
        assert_int_equal(product[0][a], a);
        assert_int_equal(product[a][0], a);
        assert_int_equal(product[a][inverse], 0);
        assert_int_equal(product[inverse][a], 0);
        for (int b = 0; b < ELEMENTS; b++) seen[product[a][b]] = true;
        for (int b = 0; b < ELEMENTS; b++) assert_true(seen[b]); // every row has every element
    }
}

static void test_associative(void **state)
{
    (void)state;
    int broken = 0;
    for (int a = 0; a < ELEMENTS; a++)
        for (int b = 0; b < ELEMENTS; b++)
            for (int c = 0; c < ELEMENTS; c++) broken += product[product[a][b]][c] != product[a][product[b][c]];
    assert_int_equal(broken, 0);
}

// Products act as one after the other, no two elements act alike, and all of them are permutations.
static void test_action(void **state)
{
    (void)state;
    static uint8_t image[ELEMENTS][HOLO_ATLAS_CLASSES];
    for (int a = 0; a < ELEMENTS; a++) {
        bool seen[HOLO_ATLAS_CLASSES] = {0};
        for (int c = 0; c < HOLO_ATLAS_CLASSES; c++) {
            image[a][c]       = (uint8_t)holo_transform_class(element(a), c);
            seen[image[a][c]] = true;
        }
        for (int c = 0; c < HOLO_ATLAS_CLASSES; c++) assert_true(seen[c]);
        for (int b = 0; b < a; b++) assert_memory_not_equal(image[a], image[b], HOLO_ATLAS_CLASSES);
    }
    for (int a = 0; a < ELEMENTS; a++)
        for (int b = 0; b < ELEMENTS; b++)
            for (int c = 0; c < HOLO_ATLAS_CLASSES; c++)
                if (image[b][image[a][c]] != image[product[a][b]][c]) fail_msg("%d then %d at class %d", a, b, c);
}

// What each generator does to the parts of every class, told apart from the product.
static void test_generators(void **state)
{
    (void)state;
    static const int mirrored[3] = {0, 2, 1};
    for (int c = 0; c < HOLO_ATLAS_CLASSES; c++) {
        int h = c / 24, d = c % 24 / 8, l = c % 8;
        for (int k = -9; k <= 9; k++) {
            assert_int_equal(holo_transform_class(holo_transform(k, 0, 0, false), c), (h + k + 40) % 4 * 24 + c % 24);
            assert_int_equal(holo_transform_class(holo_transform(0, k, 0, false), c),
                             h * 24 + (d + k + 30) % 3 * 8 + l);
            assert_int_equal(holo_transform_class(holo_transform(0, 0, k, false), c), c - l + (l + k + 80) % 8);
        }
        assert_int_equal(holo_transform_class(holo_transform(0, 0, 0, true), c), h * 24 + mirrored[d] * 8 + l);
    }
    int r = number(holo_transform(1, 0, 0, 0)), d = number(holo_transform(0, 1, 0, 0)),
        t = number(holo_transform(0, 0, 1, 0)), m = number(holo_transform(0, 0, 0, 1));
    assert_int_equal(product[m][r], product[r][m]);
    assert_int_equal(product[m][t], product[t][m]);
    assert_int_equal(product[d][r], product[r][d]);
    assert_int_equal(product[d][t], product[t][d]);
    assert_int_equal(product[product[m][d]][m], number(holo_transform(0, -1, 0, 0)));
    assert_int_not_equal(product[m][d], product[d][m]);
}

static void test_published_transforms(void **state)
{
    (void)state;
    static const struct {
        int64_t r, d, t;
        bool    m;
        int     from, to;
    } rows[] = {
        {0, 1, 0, 0, 0, 8},         {0, 1, 0, 0, 8, 16},   {0, 1, 0, 0, 16, 0},  {0, 1, 0, 0, 21, 5},
        {0, 2, 0, 0, 21, 13},       {0, -1, 0, 0, 21, 13}, {1, 1, 0, 0, 0, 32},  {0, 1, 1, 0, 0, 9},
        {1, 0, -1, 1, 1, 24},       {1, 0, 2, 1, 5, 31},   {0, 0, 3, 1, 42, 37}, {INT64_MAX, 0, 0, 0, 0, 72},
        {0, INT64_MIN, 0, 0, 0, 8},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        assert_int_equal(holo_transform_class(holo_transform(rows[i].r, rows[i].d, rows[i].t, rows[i].m), rows[i].from),
                         rows[i].to);
}

// ---- addresses

static void round_trip(HoloAddressKind kind, uint64_t n)
{
    HoloAddress a;
    uint64_t    back;
    assert_int_equal(holo_address_at(kind, n, &a, NULL), HOLO_OK);
    assert_int_equal(holo_address_number(kind, &a, &back, NULL), HOLO_OK);
    if (back != n) fail_msg("%llu comes back as %llu", (unsigned long long)n, (unsigned long long)back);
}

static void test_every_address(void **state)
{
    (void)state;
    HoloAddress a;
    uint64_t    n, next = 0;
    for (n = 0; n < 12288; n++) round_trip(HOLO_ADDRESS_BELT, n);
    for (n = 0; n < 1179648; n++) round_trip(HOLO_ADDRESS_PHI, n);
    for (uint32_t c = 0; c < 96; c++) // every class and page of the extended ones begins where the one before ends
        for (uint32_t p = 0; p < 480; p++, next += 256 * 65536) {
            a = (HoloAddress){c, p, 0, 0};
            assert_int_equal(holo_address_number(HOLO_ADDRESS_EXTENDED, &a, &n, NULL), HOLO_OK);
            assert_true(n == next);
            round_trip(HOLO_ADDRESS_EXTENDED, n);
        }
    assert_true(next == HOLO_ADDRESS_EXTENDED_COUNT);
    HoloRandom random = {96};
    for (int i = 0; i < 1000000; i++)
        round_trip(HOLO_ADDRESS_EXTENDED, holo_random_next(&random) % HOLO_ADDRESS_EXTENDED_COUNT);
    for (uint32_t p = 0; p < 48; p++)
        for (uint32_t b = 0; b < 256; b++) round_trip(HOLO_ADDRESS_PACKED, b << 16 | p);
}

static void test_published_addresses(void **state)
{
    (void)state;
    static const struct {
        HoloAddressKind kind;
        HoloAddress     address;
        uint64_t        number;
    } rows[] = {
        {HOLO_ADDRESS_BELT, {0, 0, 0, 0}, 0},
        {HOLO_ADDRESS_BELT, {0, 1, 0, 0}, 256},
        {HOLO_ADDRESS_BELT, {0, 17, 0x5A, 0}, 4442},
        {HOLO_ADDRESS_BELT, {0, 47, 255, 0}, 12287},
        {HOLO_ADDRESS_PHI, {0, 0, 1, 0}, 1},
        {HOLO_ADDRESS_PHI, {0, 1, 0, 0}, 256},
        {HOLO_ADDRESS_PHI, {1, 0, 0, 0}, 12288},
        {HOLO_ADDRESS_PHI, {95, 47, 255, 0}, 1179647},
        {HOLO_ADDRESS_PACKED, {0, 7, 128, 0}, 0x00800007},
        {HOLO_ADDRESS_EXTENDED, {0, 0, 0, 1}, 1},
        {HOLO_ADDRESS_EXTENDED, {0, 0, 1, 0}, 65536},
        {HOLO_ADDRESS_EXTENDED, {0, 1, 0, 0}, 16777216},
        {HOLO_ADDRESS_EXTENDED, {1, 0, 0, 0}, UINT64_C(8053063680)},
        {HOLO_ADDRESS_EXTENDED, {95, 479, 255, 65535}, HOLO_ADDRESS_EXTENDED_COUNT - 1},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloAddress a;
        uint64_t    n;
        assert_int_equal(holo_address_number(rows[i].kind, &rows[i].address, &n, NULL), HOLO_OK);
        assert_true(n == rows[i].number);
        assert_int_equal(holo_address_at(rows[i].kind, n, &a, NULL), HOLO_OK);
        assert_memory_equal(&a, &rows[i].address, sizeof a);
    }
}

static void test_out_of_range(void **state)
{
    (void)state;
    static const struct {
        HoloAddressKind kind;
        HoloAddress     address;
        const char     *words;
    } fields[] = {
        {HOLO_ADDRESS_BELT, {0, 48, 0, 0}, "page 48 is out of range: in belt addresses it is 0 to 47"},
        {HOLO_ADDRESS_BELT, {0, 0, 256, 0}, "byte 256"},
        {HOLO_ADDRESS_BELT, {1, 0, 0, 0}, "class 1 is out of range: in belt addresses it is 0 to 0"},
        {HOLO_ADDRESS_PHI, {96, 0, 0, 0}, "class 96"},
        {HOLO_ADDRESS_PHI, {0, 48, 0, 0}, "page 48"},
        {HOLO_ADDRESS_PHI, {0, 0, 0, 1}, "sub 1"},
        {HOLO_ADDRESS_EXTENDED, {0, 480, 0, 0}, "page 480"},
        {HOLO_ADDRESS_EXTENDED, {0, 0, 0, 65536}, "sub 65536"},
        {HOLO_ADDRESS_EXTENDED, {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, "class 4294967295"},
        {HOLO_ADDRESS_PACKED, {0, 48, 0, 0}, "page 48"},
        {HOLO_ADDRESS_KINDS, {0, 0, 0, 0}, "no kind of address"},
        {(HoloAddressKind)-1, {0, 0, 0, 0}, "no kind of address"},
    };
    static const struct {
        HoloAddressKind kind;
        uint64_t        number;
        const char     *words;
    } numbers[] = {
        {HOLO_ADDRESS_BELT, 12288, "12288 is out of range: belt addresses are 0 to 12287"},
        {HOLO_ADDRESS_PHI, 1179648, "0 to 1179647"},
        {HOLO_ADDRESS_EXTENDED, HOLO_ADDRESS_EXTENDED_COUNT, "0 to 773094113279"},
        {HOLO_ADDRESS_EXTENDED, UINT64_MAX, "out of range"},
        {HOLO_ADDRESS_PACKED, 48, "page 48"},
        {HOLO_ADDRESS_PACKED, 1 << 24, "out of range"},
        {HOLO_ADDRESS_KINDS, 0, "no kind of address"},
    };
    HoloAddress a;
    uint64_t    n;
    for (int i = 0; i < HOLO_COUNT(fields); i++) {
        HoloError error = {0};
        assert_int_equal(holo_address_number(fields[i].kind, &fields[i].address, &n, &error), HOLO_BAD_ARGUMENT);
        assert_non_null(strstr(error.text, fields[i].words));
    }
    for (int i = 0; i < HOLO_COUNT(numbers); i++) {
        HoloError error = {0};
        assert_int_equal(holo_address_at(numbers[i].kind, numbers[i].number, &a, &error), HOLO_BAD_ARGUMENT);
        assert_non_null(strstr(error.text, numbers[i].words));
    }
}

// ---- content

static HoloContentId id_of(const HoloTensor *t)
{
    HoloContentId id;
    assert_int_equal(holo_content_id(t, &id, NULL), HOLO_OK);
    return id;
}

static bool same(HoloContentId a, HoloContentId b)
{
    return a.low == b.low && a.high == b.high;
}

// An identity is for good: these are in archives and in other people's notes.
static void test_identity_is_pinned(void **state)
{
    (void)state;
    float      data[3] = {1, 2, 3};
    HoloTensor t       = {.dtype = HOLO_F32, .rank = 1, .dim = {3}, .data = data};
    uint64_t   word[]  = {1, 1, 3, holo_hash(data, 12).word[0], holo_hash(data, 12).word[1]};
    HoloHash   hash    = holo_hash(word, sizeof word);
    assert_true(same(id_of(&t), (HoloContentId){hash.word[0], hash.word[1]}));
    assert_true(same(id_of(&t), (HoloContentId){UINT64_C(0x2C9DC67AEBE273C3), UINT64_C(0x736DAC475067B7A4)}));
}

static void test_identity_tells_apart(void **state)
{
    (void)state;
    uint32_t   data[6] = {1, 2, 3, 4, 5, 6}, other[6] = {1, 2, 3, 4, 5, 7};
    HoloTensor t[] = {
        {.dtype = HOLO_U32, .rank = 2, .dim = {2, 3}, .data = data},
        {.dtype = HOLO_U32, .rank = 2, .dim = {3, 2}, .data = data},
        {.dtype = HOLO_U32, .rank = 1, .dim = {6}, .data = data},
        {.dtype = HOLO_I32, .rank = 2, .dim = {2, 3}, .data = data},
        {.dtype = HOLO_U32, .rank = 2, .dim = {2, 3}, .data = other},
        {.dtype = HOLO_U32, .rank = 0, .data = data},
        {.dtype = HOLO_U32, .rank = 2, .dim = {0, 3}},
        {.dtype = HOLO_U32, .rank = 2, .dim = {3, 0}},
    };
    HoloContentId id[HOLO_COUNT(t)];
    for (int i = 0; i < HOLO_COUNT(t); i++) {
        id[i] = id_of(&t[i]);
        for (int k = 0; k < i; k++) assert_false(same(id[i], id[k]));
    }
    uint32_t   copy[6];
    HoloTensor twin = t[0];
    memcpy(copy, data, sizeof copy);
    twin.data   = copy;
    twin.dim[5] = 77; // beyond the rank
    assert_true(same(id_of(&twin), id[0]));
}

static void test_identity_of_strings(void **state)
{
    (void)state;
    HoloString    ab[] = {{"a", 1}, {"bc", 2}}, abc[] = {{"ab", 2}, {"c", 1}};
    HoloTensor    t = {.dtype = HOLO_STRING, .rank = 1, .dim = {2}, .data = ab}, other = t;
    const uint8_t stored[] = "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0abc"; // as archives keep them
    other.data             = abc;
    assert_false(same(id_of(&t), id_of(&other)));
    assert_true(same(id_of(&t), holo_content_id_of_hash(&t, holo_hash(stored, sizeof stored - 1))));
}

static void test_no_identity(void **state)
{
    (void)state;
    float      data[1] = {0};
    HoloTensor bad[]   = {
          {.dtype = HOLO_F32, .kind = HOLO_SEQUENCE, .rank = 1, .dim = {1}, .data = data},
          {.dtype = HOLO_F32, .rank = -1, .data = data},
          {.dtype = HOLO_F32, .rank = 17, .data = data},
          {.dtype = HOLO_F32, .rank = 1, .dim = {-1}, .data = data},
          {.dtype = HOLO_F32, .rank = 1, .dim = {1}},
          {.dtype = HOLO_F32, .rank = 2, .dim = {INT64_MAX, 4}, .data = data},
          {.dtype = HOLO_NONE, .rank = 1, .dim = {1}, .data = data},
          {.dtype = 200, .rank = 1, .dim = {1}, .data = data},
    };
    for (int i = 0; i < HOLO_COUNT(bad); i++) {
        HoloContentId id;
        HoloError     error = {0};
        assert_int_equal(holo_content_id(&bad[i], &id, &error), HOLO_BAD_ARGUMENT);
        assert_non_null(strstr(error.text, "identity"));
    }
}

static void test_identity_of_a_file(void **state)
{
    (void)state;
    char          path[512], text[] = "any bytes";
    int           fd = holo_temporary_file(path, sizeof path);
    HoloTensor    t  = {.dtype = HOLO_U8, .rank = 1, .dim = {9}, .data = text};
    HoloContentId id;
    uint64_t      size;
    HoloError     error = {0};
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(holo_content_id_file(path, &id, NULL, &error), HOLO_OK); // it is empty
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, 9, file), 9);
    fclose(file);
    assert_int_equal(holo_content_id_file(path, &id, &size, &error), HOLO_OK);
    assert_int_equal(size, 9);
    assert_true(same(id, id_of(&t)));
    unlink(path);
    assert_int_equal(holo_content_id_file(path, &id, &size, &error), HOLO_NO_FILE);
}

// The address is the rest of a long division by hand, bit by bit.
static void test_address_of_content(void **state)
{
    (void)state;
    HoloRandom random = {7};
    for (int i = 0; i < 10000; i++) {
        HoloContentId id = {holo_random_next(&random), holo_random_next(&random)};
        if (i == 0) id = (HoloContentId){UINT64_MAX, UINT64_MAX};
        if (i == 1) id = (HoloContentId){HOLO_ADDRESS_EXTENDED_COUNT - 1, 0};
        if (i == 2) id = (HoloContentId){0, 1};
        uint64_t rest = 0, n;
        for (int b = 127; b >= 0; b--)
            rest = (2 * rest + ((b < 64 ? id.low >> b : id.high >> (b - 64)) & 1)) % HOLO_ADDRESS_EXTENDED_COUNT;
        HoloAddress a = holo_content_address(id);
        assert_int_equal(holo_address_number(HOLO_ADDRESS_EXTENDED, &a, &n, NULL), HOLO_OK);
        assert_true(n == rest);
    }
}

// Chi-squared of the fields over hashes of small numbers: no cell is preferred.
static void test_addresses_are_uniform(void **state)
{
    (void)state;
    enum { COUNT = 96 * 4000 };
    static uint32_t hits[4][480];
    const uint32_t  cells[4] = {96, 480, 256, 256};
    for (uint32_t i = 0; i < COUNT; i++) {
        HoloTensor  t = {.dtype = HOLO_U32, .rank = 0, .data = &i};
        HoloAddress a = holo_content_address(id_of(&t));
        hits[0][a.class_id]++;
        hits[1][a.page]++;
        hits[2][a.byte]++;
        hits[3][a.sub >> 8]++;
    }
    for (int f = 0; f < 4; f++) {
        double expected = (double)COUNT / cells[f], sum = 0, degrees = cells[f] - 1;
        for (uint32_t c = 0; c < cells[f]; c++) sum += (hits[f][c] - expected) * (hits[f][c] - expected) / expected;
        double z2 = (sum - degrees) * (sum - degrees) / (2 * degrees);
        if (z2 > 16) fail_msg("field %d: chi-squared %g with %g degrees of freedom", f, sum, degrees);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_every_class),
        cmocka_unit_test(test_published_classes),
        cmocka_unit_test(test_no_such_class),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_associative),
        cmocka_unit_test(test_action),
        cmocka_unit_test(test_generators),
        cmocka_unit_test(test_published_transforms),
        cmocka_unit_test(test_every_address),
        cmocka_unit_test(test_published_addresses),
        cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_identity_is_pinned),
        cmocka_unit_test(test_identity_tells_apart),
        cmocka_unit_test(test_identity_of_strings),
        cmocka_unit_test(test_no_identity),
        cmocka_unit_test(test_identity_of_a_file),
        cmocka_unit_test(test_address_of_content),
        cmocka_unit_test(test_addresses_are_uniform),
    };
    return cmocka_run_group_tests(tests, make_products, NULL);
}
