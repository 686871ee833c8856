"""Functions of `scipy.signal` that have no rule, with the reason, and those that are constants."""

from ..rules.refusals import state_reasons
from .scipy_optional import LibraryTable, named, optional, reasons

signal = optional("scipy.signal")
TABLE = LibraryTable("scipy_signal_without")

CONSTANT = named(
    signal,
    "choose_conv_method correlation_lags unit_impulse max_len_seq check_COLA check_NOLA argrelextrema "
    "argrelmax argrelmin buttap besselap",
)
"""Those of whole numbers alone, and those that give places or settings."""

TABLE.non_differentiable(*[getattr(signal, name) for name in CONSTANT])

_DESIGN = "designs a filter by frequencies and ripples: not derived here; hold it constant"
_FORMS = "another form of a filter, by way of the roots of its polynomials: not derived here"
_SPECTRA = "a spectrum: not derived here; stft, welch and scipy.fft.rfft of the parts have rules"
_SYSTEMS = "for systems of SciPy's own classes, which rules do not follow: use lfilter, or the matrices"
_RANKS = "depends on the order of the values: not derived here; np.partition and np.sort have rules"
_SPLINES = "coefficients of splines: not derived here"
_SMOOTHING = "a smoother with a penalty: not derived here; scipy.linalg.solveh_banded has a rule"
_WAVES = "a wave form: write it in NumPy"
_WAVELETS = "wavelets, which newer versions of SciPy no longer have"
_CHIRP = "a chirp-z transform: not derived here; scipy.fft.fft has a rule"
_PEAKS = "peaks, found by comparison: not derived here; the result of argrelmax is a constant"

REFUSED = reasons(
    signal,
    {
        _DESIGN: (
            "bessel butter buttord cheb1ap cheb1ord cheb2ap cheb2ord cheby1 cheby2 ellip ellipap ellipord "
            "band_stop_obj firls firwin firwin2 firwin_2d gammatone iircomb iirdesign iirfilter iirnotch "
            "iirpeak kaiser_atten kaiser_beta kaiserord minimum_phase remez "
            "closest_STFT_dual_window"
        ),
        _FORMS: (
            "abcd_normalize bilinear bilinear_zpk cont2discrete invres invresz lp2bp lp2bp_zpk lp2bs "
            "lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk normalize residue "
            "residuez sos2tf sos2zpk ss2tf ss2zpk "
            "cmplx_sort tf2sos tf2ss tf2zpk unique_roots zpk2sos zpk2ss zpk2tf place_poles findfreqs"
        ),
        _SPECTRA: ("envelope istft lombscargle vectorstrength"),
        _SYSTEMS: ("bode dbode dfreqresp dimpulse dlsim dstep freqresp group_delay impulse lsim step"),
        _RANKS: "medfilt medfilt2d order_filter wiener",
        _SPLINES: (
            "cspline1d cspline1d_eval cspline2d gauss_spline qspline1d qspline1d_eval qspline2d sepfir2d "
            "spline_filter symiirorder1 symiirorder2"
        ),
        _SMOOTHING: "whittaker_henderson",
        _WAVES: "chirp gausspulse sawtooth square sweep_poly",
        _WAVELETS: "cascade cwt daub morlet morlet2 qmf ricker",
        _CHIRP: "czt czt_points zoom_fft",
        _PEAKS: "find_peaks find_peaks_cwt peak_prominences peak_widths",
        "use freqz of the coefficients": "freqs freqs_zpk freqz_sos freqz_zpk sosfreqz",
        "use ifft2 of the weighted spectrum": "hilbert2",
    },
)
"""Why each has no rule."""

state_reasons(signal, REFUSED)

_CLASSES = {
    **dict.fromkeys("lti dlti StateSpace TransferFunction ZerosPolesGain".split(), _SYSTEMS),
    "ShortTimeFFT": "a class of SciPy's own, which rules do not follow: use stft",
    **dict.fromkeys(("CZT", "ZoomFFT"), _CHIRP),
}
state_reasons(signal, _CLASSES)
