// e^A by scaling and squaring of Taylor's polynomials in few products, of
// degree 8 in three and of degree 18 in five (P. Bader, S. Blanes and F. Casas,
// "Computing the matrix exponential with an optimized Taylor polynomial
// approximation", 2019): its numbers.
#pragma once

namespace hotaru::exponential {

inline constexpr int kDegrees[] = {1, 2, 4, 8, 12, 18};

/// The norms up to which a polynomial of that degree is e^(A + E) of an E not
/// longer than u |A|, u half a unit in the last place of 1: where the series of
/// log(e^-x T(x)) / x, all coefficients positive, is u.
template <class R>
inline constexpr double kLimits[6] = {2.2204460e-16, 2.5809568e-8, 3.3971688e-4,
                                      4.9912289e-2,  0.29961589,   1.0908637};
template <>
inline constexpr double kLimits<float>[6] = {
    1.1920928e-7, 5.9788589e-4, 5.1166194e-2, 0.58005246, 1.4616615, 3.0100664};

// Sums of powers, of which I is the first.
inline constexpr double kFirst[][2] = {{1, 1}};
inline constexpr double kSecond[][3] = {{1, 1, 1. / 2}};
inline constexpr double kFourth[][3] = {{1, 1, 0}, {1. / 2, 1. / 6, 1. / 24}};
inline constexpr double kEighthInner[][3] = {
    {0, 0.10836465678522780852, 0.027091164196306952131}};
inline constexpr double kEighth[][4] = {
    {1, 1, 0.13549236135285063166, 0},
    {0, 0, 2. / 3, 1},
    {0.54676145797072405251, 0.16112557339541759283, 0.014090917158378207731,
     0.033792797010870504141}};
inline constexpr double kTwelfth[][4] = {
    {9.0198e-16, 0.46932117595418237389, -0.20099424927047284052,
     -0.04623946134063071740},
    {5.31597895759871264183, 1.19926790417132231573, 0.01179296240992997031,
     0.01108844528519167989},
    {0.18188869982170434744, 0.05502798439925399070, 0.09351590770535414968,
     0.00610700528898058230},
    {-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079,
     -0.00675951846863086359}};
inline constexpr double kEighteenth[][5] = {
    {0, 0.397849749499645077844, 1.36783778460411720168,
     0.498289622525382669416, -6.37898194594723280150e-4},
    {-10.9676396052962061844, 1.68015813878906206114, 0.0571779846478865511061,
     -6.98210122488052056106e-3, 3.34975017086070470649e-5},
    {-0.0904316832390810593223, -0.0676404519071381882256,
     0.0675961301770459654925, 0.0295552570429315521194,
     -1.39180257516060693404e-5},
    {0, -0.100365581030144618291, -8.02924648241156932449e-3,
     -8.92138498045729985177e-4, 0},
    {0, 0, -0.0923364619367118555360, -0.0169364939002081722752,
     -1.40086798182036094347e-5}};

}  // namespace hotaru::exponential
