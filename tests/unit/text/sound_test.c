// sound_test.c - WAV files of every form, other rates, powers of frequencies, spectrograms, and the rules of what is said.
#include "support/models.h"

#include "sound/sound.h"
#include "text/speech.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// ---- WAV files

typedef struct Wav {
    uint8_t bytes[4096];
    size_t  size;
} Wav;

static void put(Wav *w, uint64_t number, int count)
{
    for (int i = 0; i < count; i++) w->bytes[w->size++] = (uint8_t)(i < 8 ? number >> 8 * i : 0);
}

static void put_text(Wav *w, const char *text)
{
    memcpy(w->bytes + w->size, text, strlen(text));
    w->size += strlen(text);
}

// A file with a chunk of another kind before its samples.
static void begin(Wav *w, int format, int channels, int rate, int bits, size_t data)
{
    w->size = 0;
    put_text(w, "RIFF");
    put(w, 0, 4);
    put_text(w, "WAVELIST");
    put(w, 3, 4);
    put(w, 0x616161, 4); // and a byte to make it even
    put_text(w, "fmt ");
    put(w, format == 0xFFFE ? 40 : 16, 4);
    put(w, (uint64_t)format, 2);
    put(w, (uint64_t)channels, 2);
    put(w, (uint64_t)rate, 4);
    put(w, (uint64_t)(rate * channels * bits / 8), 4);
    put(w, (uint64_t)(channels * bits / 8), 2);
    put(w, (uint64_t)bits, 2);
    if (format == 0xFFFE) {
        put(w, 22, 2);
        put(w, (uint64_t)bits, 2);
        put(w, 3, 4);
        put(w, 1, 2); // the true format: PCM
        put(w, 0, 14);
    }
    put_text(w, "data");
    put(w, data, 4);
}

static float first_of(const Wav *w, size_t count, int rate)
{
    HoloWave wave;
    EXPECT_OK(holo_wav_read(w->bytes, w->size, &wave, &error));
    assert_int_equal(wave.count, count);
    assert_int_equal(wave.rate, rate);
    float first = wave.at[0];
    holo_free(wave.at);
    return first;
}

static void test_forms(void **state)
{
    (void)state;
    Wav    w;
    float  single = -0.25f;
    double twice  = 0.125;
    begin(&w, 1, 1, 8000, 8, 2);
    put(&w, 192, 1), put(&w, 0, 1);
    assert_true(first_of(&w, 2, 8000) == 0.5f);
    begin(&w, 1, 2, 44100, 16, 4);
    put(&w, 0x4000, 2), put(&w, 0xC000, 2); // the channels are mixed: 0.5 and -0.5
    assert_true(first_of(&w, 1, 44100) == 0);
    begin(&w, 1, 1, 48000, 24, 3);
    put(&w, 0x200000, 3);
    assert_true(first_of(&w, 1, 48000) == 0.25f);
    begin(&w, 0xFFFE, 1, 16000, 32, 4);
    put(&w, 0x80000000u, 4);
    assert_true(first_of(&w, 1, 16000) == -1);
    begin(&w, 3, 1, 16000, 32, 4);
    memcpy(w.bytes + w.size, &single, 4), w.size += 4;
    assert_true(first_of(&w, 1, 16000) == -0.25f);
    begin(&w, 3, 1, 16000, 64, 0xFFFFFFFF); // written while it was recorded: the size is not known
    memcpy(w.bytes + w.size, &twice, 8), w.size += 8;
    assert_true(first_of(&w, 1, 16000) == 0.125f);
    single = INFINITY;
    begin(&w, 3, 1, 16000, 32, 4);
    memcpy(w.bytes + w.size, &single, 4), w.size += 4;
    assert_true(first_of(&w, 1, 16000) == 0);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        int         format, channels, rate, bits;
        HoloStatus  status;
        const char *words;
    } cases[] = {
        {2, 1, 16000, 4, HOLO_UNSUPPORTED, "samples of format 2 with 4 bits"},
        {1, 1, 16000, 12, HOLO_UNSUPPORTED, "samples of format 1 with 12 bits"},
        {3, 1, 16000, 16, HOLO_UNSUPPORTED, "samples of format 3 with 16 bits"},
        {1, 0, 16000, 16, HOLO_BAD_INPUT, "channels"},
        {1, 2000, 16000, 16, HOLO_BAD_INPUT, "channels"},
        {1, 1, 10, 16, HOLO_UNSUPPORTED, "10 samples per second"},
        {1, 1, 1 << 24, 16, HOLO_UNSUPPORTED, "samples per second"},
    };
    Wav      w;
    HoloWave wave;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&w, cases[i].format, cases[i].channels, cases[i].rate, cases[i].bits, 4);
        put(&w, 0, 4);
        EXPECT_FAIL(holo_wav_read(w.bytes, w.size, &wave, &error), cases[i].status, cases[i].words);
    }
    begin(&w, 1, 1, 16000, 16, 4);
    put(&w, 0, 4);
    for (size_t size = 0; size < w.size - 4; size++) { // cut anywhere before the samples
        HoloError  error  = {0};
        HoloStatus status = holo_wav_read(w.bytes, size, &wave, &error);
        assert_true(status == HOLO_BAD_INPUT || (size == w.size - 4 && !status));
    }
    float *samples;
    size_t count;
    EXPECT_FAIL(holo_sound_read_memory(w.bytes, w.size, 5, &samples, &count, &error), HOLO_BAD_ARGUMENT, "5 samples");
}

// ---- rates

// A tone stays a tone of the same height and strength; one that is too high for the new rate is gone.
static void test_rates(void **state)
{
    (void)state;
    static const struct {
        int    from, to;
        double hertz, strength;
    } cases[] = {{44100, 16000, 1000, 1}, {8000, 16000, 700, 1}, {22050, 16000, 3000, 1}, {48000, 16000, 12000, 0}};
    enum { COUNT = 9000 };
    static float tone[COUNT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        HoloWave from = {tone, COUNT, cases[i].from}, to;
        for (int k = 0; k < COUNT; k++) tone[k] = (float)sin(2 * pi * cases[i].hertz * k / cases[i].from);
        EXPECT_OK(holo_sound_resample(&from, cases[i].to, &to, &error));
        assert_int_equal(to.count, (size_t)((double)COUNT * cases[i].to / cases[i].from));
        for (size_t k = 300; k + 300 < to.count; k++) {
            double want = cases[i].strength * sin(2 * pi * cases[i].hertz * (double)k / cases[i].to);
            if (fabs((double)to.at[k] - want) > 5e-3)
                fail_msg("from %d to %d: sample %zu is %g, not %g", cases[i].from, cases[i].to, k, (double)to.at[k],
                         want);
        }
        holo_free(to.at);
    }
}

// ---- spectrograms

static void test_powers(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 7, 12, 64, 100};
    double           in[100], have[51];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int          n = counts[c];
        HoloFourier *fourier;
        EXPECT_OK(holo_fourier_create(n, &fourier, &error));
        for (int i = 0; i < n; i++) in[i] = sin(i * i + 1.0);
        holo_fourier_powers(fourier, in, have);
        for (int k = 0; k <= n / 2; k++) {
            double re = 0, im = 0;
            for (int i = 0; i < n; i++) re += in[i] * cos(2 * pi * i * k / n), im += in[i] * sin(2 * pi * i * k / n);
            assert_true(fabs(have[k] - re * re - im * im) < 1e-9);
        }
        holo_fourier_destroy(fourier);
    }
}

// Silence is the least of all; a tone is loudest in the mel that has its frequency.
static void test_mels(void **state)
{
    (void)state;
    HoloMelOptions o = {.rate = 16000, .window = 400, .hop = 160, .mels = 80};
    HoloMel       *mel;
    enum { FRAMES = 20, COUNT = FRAMES * 160 };
    static float tone[COUNT], out[80 * FRAMES];
    for (int i = 0; i < COUNT; i++) tone[i] = (float)sin(2 * pi * 1000 * i / 16000);
    EXPECT_OK(holo_mel_create(&o, &mel, &error));
    EXPECT_OK(holo_mel_run(mel, tone, 0, FRAMES, out, &error));
    for (int i = 0; i < 80 * FRAMES; i++) assert_true(fabs(out[i] + 1.5) < 1e-6); // (-10 + 4) / 4
    EXPECT_OK(holo_mel_run(mel, tone, COUNT, FRAMES, out, &error));
    int best = 0;
    for (int m = 0; m < 80; m++)
        if (out[m * FRAMES + 10] > out[best * FRAMES + 10]) best = m;
    assert_int_equal(best, 26); // 1000 Hz are 15 of 45.25 mels, 81 steps apart
    EXPECT_FAIL(holo_mel_run(mel, tone, COUNT, 1, out, &error), HOLO_BAD_INPUT, "too short");
    holo_mel_destroy(mel);
    o.hop = 0;
    EXPECT_FAIL(holo_mel_create(&o, &mel, &error), HOLO_BAD_INPUT, "cannot be made");
}

// ---- what is said

enum { WORDS = 10, END = 10, TIMES = 14, VOCABULARY = 24 };

static uint32_t next(const HoloSpeechRules *rules, const uint32_t *said, size_t count, uint32_t liked)
{
    float  logits[VOCABULARY];
    double logprob;
    for (int i = 0; i < VOCABULARY; i++) logits[i] = -(float)i * 0.01f;
    logits[liked] = 9;
    return holo_speech_choose(rules, said, count, logits, VOCABULARY, &logprob);
}

static void test_rules(void **state)
{
    (void)state;
    static const uint32_t banned[] = {3}, first[] = {4, END};
    HoloSpeechRules       rules = {.token              = {.end = END, .start = 11, .no_times = 13, .times = TIMES},
                                   .banned             = banned,
                                   .banned_count       = 1,
                                   .begin_banned       = first,
                                   .begin_banned_count = 2,
                                   .first_most         = 5};
    assert_int_equal(next(&rules, NULL, 0, 7), 7);
    assert_int_equal(next(&rules, NULL, 0, 3), 0);   // never said
    assert_int_equal(next(&rules, NULL, 0, END), 0); // not said first
    assert_int_equal(next(&rules, (uint32_t[]){1}, 1, END), END);
    assert_int_equal(next(&rules, NULL, 0, 12), 0);        // no task
    assert_int_equal(next(&rules, NULL, 0, TIMES + 1), 0); // no times
    rules.has_times = true;
    assert_int_equal(next(&rules, NULL, 0, 7), TIMES);                               // it begins with a time,
    assert_int_equal(next(&rules, NULL, 0, TIMES + 6), TIMES);                       // and not with a late one
    assert_int_equal(next(&rules, (uint32_t[]){TIMES}, 1, TIMES + 2), 0);            // then come words,
    assert_int_equal(next(&rules, (uint32_t[]){TIMES, 1}, 2, TIMES + 2), TIMES + 2); // then a time,
    uint32_t piece[] = {TIMES, 1, TIMES + 4};
    assert_int_equal(next(&rules, piece, 3, 5), TIMES + 4); // which comes again, or the text ends
    assert_int_equal(next(&rules, piece, 3, END), END);
    assert_int_equal(next(&rules, piece, 3, TIMES + 2), TIMES + 4); // it does not go back
    uint32_t more[] = {TIMES, 1, TIMES + 4, TIMES + 4, 2};
    assert_int_equal(next(&rules, more, 5, TIMES + 4), TIMES + 5); // and a piece takes some time
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms), cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_rates), cmocka_unit_test(test_powers),
        cmocka_unit_test(test_mels),  cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
