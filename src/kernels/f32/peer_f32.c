// peer_f32.c - normalization and sums in the orders of ONNX Runtime, for models that quantize what comes out: in class fused and in
// class exact these have its bits.
//
// A layer that it has joined with the sum before it carries mean and variance from element to element. Each channel of an
// image is scaled and shifted at once; of its sums, and of those of rows, eight go in turn, beginning at memory that is aligned
// to four elements. Squares of a norm are summed one by one.

// ---- layers

// Of up to 16 * parts rows, the means and the standard deviations.
INL void carried_factors(int parts, const HoloNorm *m, const float *x, int rows, float *near, float *deviation)
{
    float columns[CARRIED][LANES * LANES] = {0};
    f32v  mean[CARRIED], square[CARRIED];
    for (int p = 0; p < parts; p++) mean[p] = square[p] = v_set1(0);
    for (int64_t i = 0; i < m->n; i += LANES) {
        int wide = lanes_left(i, m->n);
        for (int p = 0; p < parts; p++)
            v_transpose_part(x + p * LANES * m->n + i, m->n, lanes_left(p * LANES, rows), wide, columns[p], LANES);
        for (int k = 0; k < wide; k++) UNROLL for (int p = 0; p < parts; p++)
            {
                f32v v = v_load(columns[p] + k * LANES), off = v_sub(v, mean[p]);
                mean[p]   = v_add(mean[p], v_div(off, v_set1((float)(i + k + 1))));
                square[p] = v_add(square[p], v_mul(off, v_sub(v, mean[p])));
            }
    }
    for (int p = 0; p < parts; p++) {
        f32v s         = v_div(square[p], v_set1((float)m->n));
        EACH(i) s.r[i] = n_sqrt(s.r[i] + m->epsilon);
        v_store(near + p * LANES, mean[p]), v_store(deviation + p * LANES, s);
    }
}

void SHARED(carried_layers)(const HoloNorm *m, int64_t row, int rows)
{
    float near[CARRIED * LANES], deviation[CARRIED * LANES];
    if (rows > LANES)
        carried_factors(2, m, m->x + row * m->n, rows, near, deviation);
    else
        carried_factors(1, m, m->x + row * m->n, rows, near, deviation);
    for (int r = rows - 1; r >= 0; r--) {
        const float *x   = m->x + (row + r) * m->n;
        float       *out = m->out + (row + r) * m->n;
        for (int64_t i = 0; i < m->n; i += LANES) {
            int  lanes = lanes_left(i, m->n);
            f32v y     = v_div(v_sub(v_load_lanes(x + i, lanes), v_set1(near[r])), v_set1(deviation[r]));
            y          = v_mul(y, v_load_lanes(m->scale + i, lanes));
            if (m->bias) y = v_add(y, v_load_lanes(m->bias + i, lanes));
            v_store_lanes(out + i, y, lanes);
        }
    }
}

// ---- channels of images

// What is summed of 16 channels at one place: elements, or squares of what they are off.
typedef struct Turn {
    const float *x;
    int64_t      step, across; // elements from one place to the next, from one channel to the next
    int          lanes;
    bool         squares;
    f32v         mean;
} Turn;

INL f32v turn_at(const Turn *t, int64_t i)
{
    const float *x = t->x + i * t->step;
    f32v         v = t->across == 1 ? v_load_lanes(x, t->lanes) : v_load_strided(x, t->across, 0, t->lanes);
    if (t->squares) v = v_sub(v, t->mean), v = v_mul(v, v);
    return v;
}

// A function of its own: there are many that call it.
static NOINLINE f32v turn_sum(const Turn *t, int64_t n, int64_t start)
{
    int64_t fours = (n - start) / 4 * 4, eights = fours / 8 * 8, i = 1;
    f32v    s[8], sum = turn_at(t, 0);
    if (fours) {
        for (int l = 0; l < 8; l++) s[l] = l < fours ? turn_at(t, start + l) : v_set1(0);
        for (i = start + 8; i < start + eights; i += 8)
            UNROLL for (int l = 0; l < 8; l++) s[l] = v_add(s[l], turn_at(t, i + l));
        for (int l = 0; l < 4 && eights; l++) s[l] = v_add(s[l], s[l + 4]);
        for (int l = 0; l < 4 && eights && fours > eights; l++) s[l] = v_add(s[l], turn_at(t, start + eights + l));
        sum = v_add(v_add(s[0], s[2]), v_add(s[1], s[3]));
        for (i = 0; i < start; i++) sum = v_add(sum, turn_at(t, i));
        i = start + fours;
    }
    for (; i < n; i++) sum = v_add(sum, turn_at(t, i));
    return sum;
}

// The sums of up to 16 channels that begin with `row` of those in memory that has each in one piece.
INL f32v turn_sums(const Turn *t, int64_t n, int64_t row)
{
    if (n % 4 == 0) return turn_sum(t, n, 0);
    float sums[LANES], some[LANES];
    for (int64_t k = 0; k < 4; k++) { // of four in a row each begins elsewhere, or those of one of each two do
        v_store(some, turn_sum(t, n, aligned_start(row + k, n)));
        for (int l = (int)k; l < LANES; l += 4) sums[l] = some[l];
    }
    return v_load(sums);
}

// Of up to 16 channels of n places: what they are multiplied by, and what is added then.
INL void turn_factors(Turn t, int64_t n, int64_t row, float epsilon, f32v scale, f32v bias, f32v *out_factor,
                      f32v *out_addend)
{
    t.mean              = v_div(turn_sums(&t, n, row), v_set1((float)n));
    t.squares           = true;
    f32v factor         = v_div(turn_sum(&t, n, 0), v_set1((float)n));
    EACH(i) factor.r[i] = 1.0f / n_sqrt(factor.r[i] + epsilon);
    *out_factor         = v_mul(factor, scale);
    *out_addend         = v_sub(bias, v_mul(t.mean, *out_factor));
}

void SHARED(instance_f32)(int64_t rows, int64_t row, const float *x, int64_t first, int channels, float epsilon,
                          const float *scale, const float *bias, float *out_factor, float *out_addend)
{
    Turn t = {.x = x, .step = row, .across = 1, .lanes = channels};
    f32v factor, addend;
    turn_factors(t, rows, first, epsilon, v_load_lanes(scale, channels), v_load_lanes(bias, channels), &factor,
                 &addend);
    v_store_lanes(out_factor, factor, channels);
    v_store_lanes(out_addend, addend, channels);
}

// Channels that have each its memory: rows.
void SHARED(instance_rows)(const HoloNorm *m, int64_t row, int rows)
{
    float factors[LANES], addends[LANES], scale[LANES] = {0}, bias[LANES] = {0};
    f32v  factor, addend;
    for (int r = 0; r < rows; r++) {
        scale[r] = m->scale[(row + r) % m->groups];
        if (m->bias) bias[r] = m->bias[(row + r) % m->groups];
    }
    Turn t = {.x = m->x + row * m->n, .step = 1, .across = m->n, .lanes = rows};
    turn_factors(t, m->n, row, m->epsilon, v_load(scale), v_load(bias), &factor, &addend);
    v_store(factors, factor), v_store(addends, addend);
    for (int r = rows - 1; r >= 0; r--)
        for (int64_t i = 0, at = (row + r) * m->n; i < m->n; i += LANES) {
            int  lanes = lanes_left(i, m->n);
            f32v y     = v_mul(v_load_lanes(m->x + at + i, lanes), v_set1(factors[r]));
            v_store_lanes(m->out + at + i, v_add(y, v_set1(addends[r])), lanes);
        }
}

// ---- sums of rows and of columns

// The first row is 0, or 4 or 8 ..., of all.
static void rows_peer(uint32_t op, int64_t rows, int64_t n, const float *x, float *out)
{
    for (int64_t r = 0; r < rows; r += LANES) {
        Turn t = {.x = x + r * n, .step = 1, .across = n, .lanes = lanes_left(r, rows), .squares = true};
        f32v s = t.mean = v_set1(0);
        for (int64_t i = 0; i < n && op == HOLO_REDUCE_L2_PEER; i++) s = v_add(s, turn_at(&t, i));
        t.squares = false;
        if (op == HOLO_REDUCE_L2_PEER)
            EACH(i) s.r[i] = n_sqrt(s.r[i]);
        else
            s = turn_sums(&t, n, r);
        if (op == HOLO_REDUCE_MEAN_PEER) s = v_div(s, v_set1((float)n));
        v_store_lanes(out + r, s, t.lanes);
    }
}

float SHARED(row_peer)(const float *x, int64_t n, int64_t start)
{
    int64_t fours = (n - start) / 4 * 4, eights = fours / 8 * 8, i = 1;
    float   s[LANES], sum = x[0];
    if (fours) {
        f32v all = v_load_lanes(x + start, eights ? 8 : 4);
        for (i = start + 8; i < start + eights; i += 8) all = v_add(all, v_load_lanes(x + i, 8));
        v_store(s, all);
        for (int l = 0; l < 4 && eights; l++) s[l] += s[l + 4];
        for (int l = 0; l < 4 && eights && fours > eights; l++) s[l] += x[start + eights + l];
        sum = (s[0] + s[2]) + (s[1] + s[3]);
        for (i = 0; i < start; i++) sum += x[i];
        i = start + fours;
    }
    for (; i < n; i++) sum += x[i];
    return sum;
}

// Columns go from the top down, one row after another; those of one matrix of several by four rows, then two, which are
// added up first: there they are a product with ones.
static void columns_peer(uint32_t op, int64_t rows, int64_t columns, const float *x, int64_t row, float *out)
{
    bool fours = op == HOLO_REDUCE_SUM_FOURS || op == HOLO_REDUCE_MEAN_FOURS;
    for (int64_t c = 0; c < columns; c += LANES) {
        int  lanes = lanes_left(c, columns);
        Turn t     = {.x = x + c, .step = row, .across = 1, .lanes = lanes, .squares = op == HOLO_REDUCE_L2_PEER};
        t.mean     = v_set1(0);
        f32v s     = v_set1(0);
        for (int64_t r = 0, count; r < rows; r += count) {
            f32v some = turn_at(&t, r);
            count     = !fours || rows - r < 2 ? 1 : rows - r < 4 ? 2 : 4;
            for (int64_t k = 1; k < count; k++) some = v_add(some, turn_at(&t, r + k));
            s = r ? v_add(s, some) : some;
        }
        if (op == HOLO_REDUCE_L2_PEER) EACH(i) s.r[i] = n_sqrt(s.r[i]);
        if (op == HOLO_REDUCE_MEAN_PEER || op == HOLO_REDUCE_MEAN_FOURS) s = v_div(s, v_set1((float)rows));
        v_store_lanes(out + c, s, lanes);
    }
}
