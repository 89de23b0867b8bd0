//! Detects how the processor computes with 8-bit numbers.

/// Whether it adds pairs of products of signed weights in 16 bits, which overflows.
///
/// x86 without VNNI does. The runtime then converts the weights to unsigned, which is exact there
/// and half as fast with VNNI.
pub(crate) fn overflows_int8() -> bool {
    #[cfg(target_arch = "x86_64")]
    return !is_x86_feature_detected!("avx512vnni") && !is_x86_feature_detected!("avxvnni");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Whether kb embeds many texts faster than ONNX Runtime: on x86 with AVX2, but neither VNNI nor
/// AVX-512. Other processors have instructions for 8-bit numbers that the runtime uses well.
pub(crate) fn is_kb_faster() -> bool {
    #[cfg(target_arch = "x86_64")]
    return overflows_int8()
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && !is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}
